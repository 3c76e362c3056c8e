// The worker of one thread that speaks HTTP: a composition root.

import { runHttpThread } from "./threads/run-thread.ts";

runHttpThread();
