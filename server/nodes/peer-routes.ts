// Where other nodes connect to this one, to forward calls.

import { timingSafeEqual } from "node:crypto";
import { Elysia } from "elysia";
import type { NodesSeen } from "../../stores/nodes.ts";
import type { Log } from "../log.ts";
import { Caller } from "../routes/route.ts";
import { type FromPeer, type PeerAnswer, peerPath, ping, pong, type ToPeer } from "./peer.ts";
import type { Router } from "./router.ts";

export interface PeerOptions {
  readonly seen: () => NodesSeen;
  readonly router: Router;
  /** What this node expects of the others. */
  readonly key: string;
  readonly log: Log;
}

/** An import as text, quoted once more. */
const messageBytesMax = 512_000_000;
/** Longer than a node waits that hears nothing: what it asked for is granted to nobody after that. */
const idleSeconds = 8;

interface Socket {
  readonly id: string;
  send(text: string): unknown;
}

export function peerRoutes({ router, key, log }: PeerOptions) {
  /** Calls that are being done, by connection and number. */
  const calls = new Map<string, Map<number, AbortController>>();

  async function answered({ call }: ToPeer, signal: AbortSignal): Promise<PeerAnswer> {
    if (call === null) return { is: "failed" };
    try {
      return await router.serve(call, new Caller({ signal, requestKey: call.requestKey }));
    } catch (error) {
      log.error("forwarded call failed", error);
      return { is: "failed" };
    }
  }

  async function heard(socket: Socket, message: ToPeer): Promise<void> {
    const { number, call } = message;
    const mine = calls.get(socket.id);
    if (mine === undefined) return;
    if (call === null) {
      mine.get(number)?.abort();
      return;
    }
    const controller = new AbortController();
    mine.set(number, controller);
    const answer = await answered(message, controller.signal);
    mine.delete(number);
    if (calls.has(socket.id)) socket.send(JSON.stringify({ number, answer } satisfies FromPeer));
  }

  return new Elysia({
    websocket: {
      maxPayloadLength: messageBytesMax,
      backpressureLimit: messageBytesMax,
      idleTimeout: idleSeconds,
    },
  }).ws(peerPath, {
    beforeHandle: ({ headers, status }) => {
      const given = Buffer.from(headers["authorization"] ?? "");
      const expected = Buffer.from(`Bearer ${key}`);
      const isKnown = given.length === expected.length && timingSafeEqual(given, expected);
      return isKnown ? undefined : status(401, "this is for nodes of the same database");
    },
    open: ({ id }) => {
      calls.set(id, new Map());
    },
    message: (socket, message) => {
      if (message === ping) socket.send(pong);
      else void heard(socket, message as ToPeer);
    },
    close: ({ id }) => {
      for (const controller of calls.get(id)?.values() ?? []) controller.abort();
      calls.delete(id);
    },
  });
}
