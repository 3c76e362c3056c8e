// Where other nodes connect to this one, to forward calls.

import { timingSafeEqual } from "node:crypto";
import { Elysia } from "elysia";
import { CallServer, type CallServerOptions } from "../calls/call-server.ts";
import type { Log } from "../observability/log.ts";
import type { ClusterNodes } from "../routes/nodes.ts";
import { peerPath, ping, pong } from "./peer.ts";
import type { Router } from "./router.ts";

export interface PeerOptions extends ClusterNodes {
  readonly router: Router;
  /** What this node expects of the others. */
  readonly key: string;
  readonly log: Log;
}

/** The text of an import, and of calls that share its frame. */
const messageBytesMax = 512_000_000;
/** Longer than a node waits that hears nothing: what it asked for is granted to nobody after that. */
const idleSeconds = 8;

export function peerRoutes({ router, key, log }: PeerOptions) {
  /** By connection. */
  const callServers = new Map<string, CallServer>();

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
    open: (socket) => {
      const answer: CallServerOptions["answer"] = (call, caller) => router.serve(call, caller);
      const send: CallServerOptions["send"] = (frame) => socket.send(frame);
      callServers.set(socket.id, new CallServer({ answer, send, log }));
    },
    message: (socket, message) => {
      const callServer = callServers.get(socket.id);
      // One that is cut off from the database does not see that this one leaves.
      if (message === ping && router.isLeaving && callServer?.isIdle === true) socket.close();
      else if (message === ping) socket.send(pong);
      else {
        try {
          callServer?.receive(message as string);
        } catch (error) {
          log.error("node sent a malformed frame; closing the connection", error);
          socket.close();
        }
      }
    },
    close: ({ id }) => {
      callServers.get(id)?.end();
      callServers.delete(id);
    },
  });
}
