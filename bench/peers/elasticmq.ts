// ElasticMQ with a FIFO queue: the server of its library, which is on Maven Central, in a Java
// process of its own. It keeps all items in memory.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, startChild } from "../../testing/child-server.ts";
import { debianPackage, run } from "../../testing/install.ts";
import { type FairItem, type FairPeer, type FairSession, sessionsOf } from "./fair.ts";
import { payloadOf } from "./peer.ts";

const libraryVersion = "1.6.15";

const pom = `<project>
<modelVersion>4.0.0</modelVersion>
<groupId>peer</groupId><artifactId>peer</artifactId><version>1</version>
<dependencies><dependency>
<groupId>org.elasticmq</groupId><artifactId>elasticmq-rest-sqs_2.13</artifactId>
<version>${libraryVersion}</version>
</dependency></dependencies>
</project>`;

const program = `import org.elasticmq.rest.sqs.SQSRestServerBuilder;
public class Start {
  public static void main(String[] given) {
    SQSRestServerBuilder.withPort(Integer.parseInt(given[0])).withInterface("127.0.0.1").start();
  }
}`;

/** SQS takes no more items in one call. */
const batchSizeMax = 10;

let folder = "";

type Call = (action: string, body: object) => Promise<Record<string, unknown>>;

function callOn(port: number): Call {
  return async (action, body) => {
    const reply = await fetch(`http://127.0.0.1:${port}/`, {
      method: "POST",
      headers: {
        "content-type": "application/x-amz-json-1.0",
        "x-amz-target": `AmazonSQS.${action}`,
      },
      body: JSON.stringify(body),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${action} answered ${reply.status}; ${text}`);
    return text === "" ? {} : JSON.parse(text);
  };
}

function sessionOf(call: Call, QueueUrl: string): FairSession {
  const entry = ({ number, group }: FairItem) => ({
    Id: String(number),
    MessageBody: payloadOf(number),
    MessageGroupId: group,
    MessageDeduplicationId: String(number),
  });
  return {
    produce: async (items) => {
      for (let from = 0; from < items.length; from += batchSizeMax) {
        const Entries = items.slice(from, from + batchSizeMax).map(entry);
        const { Failed } = await call("SendMessageBatch", { QueueUrl, Entries });
        if (Array.isArray(Failed) && Failed.length > 0) {
          throw new Error(`SendMessageBatch refused items; ${JSON.stringify(Failed)}`);
        }
      }
    },
    lease: async () => {
      const { Messages } = await call("ReceiveMessage", { QueueUrl, MaxNumberOfMessages: 1 });
      const [found] = (Messages ?? []) as { Body: string; ReceiptHandle: string }[];
      if (found === undefined) return null;
      const { Body: payload, ReceiptHandle } = found;
      return { payload, complete: () => call("DeleteMessage", { QueueUrl, ReceiptHandle }) };
    },
    close: async () => undefined,
  };
}

export const elasticMq: FairPeer = {
  name: "ElasticMQ FIFO",
  settings: "MessageGroupId, one of a group at a time by its rules; items in memory, never synced",
  install: async (scratch) => {
    await debianPackage("default-jdk-headless");
    await debianPackage("maven");
    folder = join(scratch, "elasticmq");
    mkdirSync(folder);
    writeFileSync(join(folder, "pom.xml"), pom);
    writeFileSync(join(folder, "Start.java"), program);
    const copy = ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=library"];
    await run(copy, { cwd: folder });
    await run(["javac", "-cp", "library/*", "Start.java"], { cwd: folder });
  },
  start: async () => {
    const port = freePort();
    const path = `${folder}:${join(folder, "library")}/*`;
    const server = await startChild({
      command: ["java", "-Xmx4g", "-cp", path, "Start", String(port)],
      port,
    });
    return {
      version: libraryVersion,
      stop: server.stop,
      open: async (queue, sessions) => {
        const call = callOn(port);
        const { QueueUrl } = await call("CreateQueue", {
          QueueName: `${queue}.fifo`,
          Attributes: { FifoQueue: "true", VisibilityTimeout: "3600" },
        });
        return await sessionsOf(sessions, async () => sessionOf(call, String(QueueUrl)));
      },
    };
  },
};
