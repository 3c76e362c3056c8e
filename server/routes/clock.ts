// The test clock, for those who test what they build on the server.

import type { Engine } from "../../engine/api.ts";
import { advanceMs } from "../wire/clock.ts";
import type { Routes } from "./route.ts";

export function clockRoutes(engine: Engine<string>): Routes<"advance"> {
  return {
    async advance(body) {
      return { now: new Date(await engine.advance(advanceMs(body))).toISOString() };
    },
  };
}
