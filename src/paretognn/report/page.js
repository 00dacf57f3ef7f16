"use strict";
const charts = JSON.parse(document.getElementById("data").textContent);
const byName = Object.fromEntries(charts.map((chart) => [chart.name, chart]));
const dark = matchMedia("(prefers-color-scheme: dark)");
// Without a mouse the bar of buttons would always stand over the legend.
const bar = matchMedia("(hover: hover)").matches ? "hover" : false;

// Colours of text, grid and ground are the page's own, so that a chart follows light and dark mode.
function themed(layout) {
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue("--ink").trim(), line = style.getPropertyValue("--line").trim();
  const card = style.getPropertyValue("--card").trim();
  const axis = (own) => ({ gridcolor: line, zerolinecolor: line, linecolor: line, ...own });
  return {
    margin: { l: 56, r: 12, t: 12, b: 44 },
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
    ...layout,
    xaxis: axis(layout.xaxis), yaxis: axis(layout.yaxis),
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: ink, size: 12 }, modebar: { bgcolor: "rgba(0,0,0,0)" },
    hoverlabel: { bgcolor: card, bordercolor: line, font: { color: ink } },
    autosize: true,
  };
}

function draw(chart) {
  Plotly.react(chart.name, chart.traces, themed(chart.layout), {
    responsive: true, displaylogo: false, displayModeBar: bar, modeBarButtonsToRemove: ["select2d", "lasso2d"],
  });
}

// A chart is drawn when it comes near the window: dozens at once would hold up the page.
const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting || entry.target.dataset.drawn) continue;
    entry.target.dataset.drawn = "yes";
    draw(byName[entry.target.id]);
  }
}, { rootMargin: "600px" });
for (const plot of document.querySelectorAll(".plot")) watcher.observe(plot);
addEventListener("beforeprint", () => charts.forEach(draw));
dark.addEventListener("change", () => {
  for (const plot of document.querySelectorAll(".plot[data-drawn]")) draw(byName[plot.id]);
});

for (const select of document.querySelectorAll("select[data-chart]")) {
  select.addEventListener("change", () => {
    const chart = byName[select.dataset.chart];
    for (const trace of chart.traces) if (trace.meta) trace.visible = trace.meta === select.value;
    draw(chart);
  });
}

// The node whose id is typed is ringed, and named in words.
for (const input of document.querySelectorAll("input[data-find]")) {
  const chart = byName[input.dataset.find];
  const said = document.querySelector(`output[data-found="${input.dataset.find}"]`);
  const plain = document.createElement("textarea");
  const texts = (trace) => trace.text.map((text) => { plain.innerHTML = text; return plain.value; });
  let ids = null;
  input.addEventListener("input", () => {
    ids ??= chart.traces.filter((trace) => trace.meta === "degree").map(texts)[0];
    chart.traces = chart.traces.filter((trace) => trace.name !== "found");
    const all = chart.traces.find((trace) => trace.meta === "degree");
    const at = input.value === "" ? -1 : ids.indexOf(input.value);
    if (at >= 0) {
      chart.traces.push({
        type: "scatter", mode: "markers", name: "found", x: [all.x[at]], y: [all.y[at]], text: [all.text[at]],
        hovertemplate: "%{text}<extra></extra>", showlegend: false,
        marker: { size: 18, color: "rgba(0,0,0,0)", line: { width: 3, color: "#d62728" } },
      });
    }
    said.textContent = input.value === "" ? "" : at >= 0 ? "ringed on the map" : "not among the nodes shown";
    draw(chart);
  });
}
