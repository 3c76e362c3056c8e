import { expect, test } from "bun:test";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { Refused } from "../../api/call.ts";
import { SeriesChart } from "./series-chart.tsx";

test("series chart: a refusal replaces the plot; title, keys and the choice of a range stay", () => {
  const error = new Refused(500, { message: "the shard is down", reason: "" }, null);
  const html = renderToStaticMarkup(
    createElement(SeriesChart, {
      title: "items per second",
      lines: [{ name: "produced", color: "--s-in" }],
      series: { data: undefined, error, refetch: () => undefined },
      range: "15m",
      point: null,
      onPoint: () => undefined,
      children: "the choice of a range",
    }),
  );
  expect(html).toContain("<h2>items per second</h2>");
  expect(html).toContain("produced <b>–</b>");
  expect(html).toContain("the choice of a range");
  expect(html).toContain("The items per second could not be read.");
  expect(html).toContain("the shard is down");
  expect(html).not.toContain('role="img"');
});
