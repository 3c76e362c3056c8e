import type { ReactNode } from "react";
import { type Answer, comparisons, type Fact, systems } from "./comparison-facts.ts";
import "./comparison.css";

const answerTexts: Readonly<Record<Answer, string>> = { yes: "yes", partly: "partly", no: "no" };

/** Holdfast beside what people pick today, with what it lacks. */
export function Comparison(): ReactNode {
  return (
    <figure className="comparison">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <section className="table-frame" aria-label="Comparison of queues" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <td />
              {systems.map((system) => (
                <th key={system} scope="col">
                  {system}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {comparisons.map(({ topic, facts }) => (
              <tr key={topic}>
                <th scope="row">{topic}</th>
                {facts.map((fact, index) => (
                  <Cell key={systems[index]} fact={fact} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <figcaption>
        The free editions, as far as we could establish in November 2026: bunqueue 2.9, BullMQ 6.7,
        pg-boss 12, beanstalkd 1.12. Not every cell was tried, so check what you rely on. If you
        need what is missing here, one of them is the better choice.
      </figcaption>
    </figure>
  );
}

function Cell({ fact }: { readonly fact: Fact }): ReactNode {
  return (
    <td className={`comparison-fact comparison-fact-${fact.answer}`}>
      <b>{answerTexts[fact.answer]}</b>
      {fact.note !== "" && <span>{fact.note}</span>}
    </td>
  );
}
