// Sample calls in four languages, from the contract's example of the body.

export interface Call {
  readonly path: string;
  /** The body of a POST; without it the call is a GET. */
  readonly body: unknown;
}

/** The address of a server started as documented. */
const server = "http://localhost:9090";

export const samples = {
  curl: ({ path, body }: Call) =>
    body === undefined
      ? `curl ${server}${path}`
      : `curl ${server}${path} \\
  -H 'Content-Type: application/json' \\
  -d '${indented(json(body), "  ").replaceAll("'", `'\\''`)}'`,

  TypeScript: ({ path, body }: Call) =>
    body === undefined
      ? `const reply = await fetch("${server}${path}");
console.log(reply.status, await reply.text());`
      : `const reply = await fetch("${server}${path}", {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(${indented(script(body), "  ")}),
});
console.log(reply.status, await reply.json());`,

  Python: ({ path, body }: Call) =>
    body === undefined
      ? `from urllib.request import urlopen

with urlopen("${server}${path}") as reply:
    print(reply.status, reply.read().decode())`
      : `import json
from urllib.request import Request, urlopen

body = ${python(body)}
request = Request(
    "${server}${path}",
    data=json.dumps(body).encode(),
    headers={"Content-Type": "application/json"},
)
with urlopen(request) as reply:
    print(reply.status, reply.read().decode())`,

  Go: ({ path, body }: Call) => `package main

import (
	"fmt"
	"io"
	"log"
	"net/http"${body === undefined ? "" : '\n\t"strings"'}
)

func main() {
${
  body === undefined
    ? `	reply, err := http.Get("${server}${path}")`
    : `	body := strings.NewReader(\`${indented(json(body), "\t")}\`)
	reply, err := http.Post("${server}${path}", "application/json", body)`
}
	if err != nil {
		log.Fatal(err)
	}
	defer reply.Body.Close()
	text, _ := io.ReadAll(reply.Body)
	fmt.Println(reply.StatusCode, string(text))
}`,
} satisfies Readonly<Record<string, (call: Call) => string>>;

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

function indented(text: string, by: string): string {
  return text.replaceAll("\n", `\n${by}`);
}

/** Omits quotes around keys that do not need them. */
function script(value: unknown): string {
  return json(value).replace(/^(\s*)"(\w+)":/gm, "$1$2:");
}

/** JSON is valid Python except for three words. */
function python(value: unknown): string {
  const words: Readonly<Record<string, string>> = { true: "True", false: "False", null: "None" };
  return json(value).replace(/(?<=: )(?:true|false|null)(?=,?$)/gm, (word) => words[word] ?? word);
}
