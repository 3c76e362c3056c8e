// The WebSocket route on which other nodes forward calls to this one.

import { timingSafeEqual } from "node:crypto";
import { Elysia } from "elysia";
import { CallServer, type CallServerOptions } from "../calls/call-server.ts";
import type { Log } from "../observability/log.ts";
import type { ClusterNodes } from "../routes/nodes.ts";
import { peerPath, ping, pong } from "./peer.ts";
import type { Router } from "./router.ts";

export interface PeerOptions extends ClusterNodes {
  readonly router: Router;
  /** The key that this node requires of the others. */
  readonly key: string;
  readonly log: Log;
}

/** Enough for the text of an import and the calls that share its frame. */
const messageBytesMax = 512_000_000;
/**
 * Longer than the `silenceMsMax` after which the other node gives up. Once the connection is
 * closed, no lease is granted to its calls.
 */
const idleSeconds = 8;

export function peerRoutes({ router, key, log }: PeerOptions) {
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
      // A node that is cut off from the database does not see that this one leaves.
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
