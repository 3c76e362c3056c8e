import { ask } from "../../../api/call.ts";
import { isAwaited } from "../../../api/session.ts";
import { itemsText } from "../../../format.ts";
import { say } from "../../../state/toast.ts";
import { wordings } from "./wording.ts";

const lookMs = [150, 300, 600, 1_000] as const;
/** Of a long one the page of its queue tells. */
const followedMs = 60_000;

const doneWords: Readonly<Record<string, string>> = {
  redrive: wordings.redrive.done,
  promote: wordings.promote.done,
  reject: wordings.reject.done,
  delete: wordings.delete.done,
};

/** Says what a task came to, when it has ended; `isWhole`: it did all that it was to do. */
export async function followTask(id: string, onEnded: (isWhole: boolean) => void): Promise<void> {
  const until = performance.now() + followedMs;
  for (let look = 0; performance.now() < until; look += 1) {
    const pauseMs = lookMs[Math.min(look, lookMs.length - 1)];
    await new Promise((done) => setTimeout(done, pauseMs));
    // Without its key it would only ask for one, again and again.
    if (!isAwaited()) continue;
    try {
      const task = await ask("taskInfo", { task_id: id });
      if (task.state === "running") continue;
      const stay = task.skipped > 0 ? `, ${itemsText(task.skipped)} stay where they are` : "";
      const done = doneWords[task.action] ?? task.action;
      const end = task.state === "done" ? "" : `, then it was ${task.state}`;
      say(`${done}: ${itemsText(task.moved)} of ${task.queue_name}${stay}${end}`);
      onEnded(task.state === "done" && task.skipped === 0);
      return;
    } catch {
      // Nobody answers, which is said elsewhere, or the task is forgotten.
    }
  }
  onEnded(false);
}
