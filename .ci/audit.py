"""Known vulnerabilities of pinned packages, by pip-audit: exit code 1 where there is one.

Where the database cannot be reached, or does not know a package, a notice says so, and nothing fails.
"""

import json
import subprocess
import sys

SECONDS = 180


def audit(lock: str) -> int:
    words = ["--requirement", lock, "--no-deps", "--disable-pip", "--format", "json", "--progress-spinner", "off"]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pip_audit", *words, "--timeout", "10"],
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        packages = json.loads(done.stdout)["dependencies"]
    except subprocess.TimeoutExpired:
        return skipped(f"no answer within {SECONDS} s")
    except (ValueError, KeyError):
        return skipped((done.stderr.strip().splitlines() or ["no answer"])[-1])
    known = [package for package in packages if "vulns" in package]
    found = [(package, vulnerability) for package in known for vulnerability in package["vulns"]]
    for package, vulnerability in found:
        fixed = ", ".join(vulnerability["fix_versions"]) or "no version"
        print(f"audit: {package['name']} {package['version']}: {vulnerability['id']}, fixed in {fixed}")
    if not known:
        return skipped("the database knows none of the packages")
    print(f"audit: {len(known)} of {len(packages)} packages looked up, {len(found)} known vulnerabilities")
    return 1 if found else 0


def skipped(why: str) -> int:
    print(f"audit: skipped, as the database cannot be reached ({why})")
    return 0


if __name__ == "__main__":
    sys.exit(audit(sys.argv[1]))
