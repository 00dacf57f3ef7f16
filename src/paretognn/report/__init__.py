"""A run, or several side by side, as one HTML page that needs no network."""

from paretognn.report.page import write_report
from paretognn.report.run import ReportRun, read_run

__all__ = ["ReportRun", "read_run", "write_report"]
