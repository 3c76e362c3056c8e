import { expect, test } from "bun:test";
import { minute, produceOf, setup } from "../simulation/bundle.ts";

test("requests refused without a commit are not taken for later ones of the same number", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", leaseTimeoutMs: minute });
  await bundle.produce("orders", "a");
  await bundle.lease("orders");
  for (let count = 0; count < 3; count += 1) {
    const refused = await bundle.ending(() =>
      bundle.engine.complete({
        queue: "orders",
        partition: 0,
        requestTimeoutMs: minute,
        ids: ["unknown"],
      }),
    );
    expect(refused).toMatchObject({ code: "refused" });
  }
  // The lapse is a commit without a request, and records what was refused before it.
  await bundle.clock.advance(minute);
  await bundle.restart();
  bundle.store().fail({ fault: "failed", applied: true });
  const produced = await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["b"])));
  await bundle.clock.advance(minute);
  expect(produced.ending).toMatchObject({ ok: true });
  expect(await bundle.listed("orders")).toEqual(["a", "b"]);
});
