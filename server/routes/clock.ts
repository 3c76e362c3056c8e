// The route that advances a test clock.

import type { Engine } from "../../engine/model/api.ts";
import { advanceMs, advanceOptions } from "../wire/clock.ts";
import type { Routes } from "./route.ts";

export function clockRoutes(engine: Pick<Engine<string>, "advance">): Routes<"advance"> {
  return {
    async advance(body) {
      const now = await engine.advance(advanceMs(body), advanceOptions(body));
      return { now: new Date(now).toISOString() };
    },
  };
}
