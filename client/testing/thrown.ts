// Values that a program may throw, however strange.

export function strangeErrors(): Record<string, () => unknown> {
  const revoked = (): object => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  };
  const withMessage = (message: unknown): Error =>
    Object.defineProperty(new Error("x"), "message", { value: message });
  return {
    nothing: () => undefined,
    null: () => null,
    symbol: () => Symbol("x"),
    bigint: () => 10n,
    "number as message": () => withMessage(7),
    "object as message": () => withMessage({ code: 7 }),
    "symbol as message": () => withMessage(Symbol("x")),
    "getter as message": () =>
      Object.defineProperty(new Error("x"), "message", {
        get() {
          throw new Error("not to be seen");
        },
      }),
    "toString that throws": () => ({
      toString() {
        throw new Error("not to be seen");
      },
      toJSON() {
        throw new Error("not to be seen");
      },
    }),
    "tag that throws": () => ({
      get [Symbol.toStringTag]() {
        throw new Error("not to be seen");
      },
    }),
    "revoked proxy": revoked,
    "revoked proxy as message": () => withMessage(revoked()),
    "stack that throws": () =>
      Object.defineProperty(new Error("x"), "stack", {
        get() {
          throw new Error("not to be seen");
        },
      }),
    "half a character": () => new Error("order \ud83d"),
    "a character at the cut": () => new Error(`${"x".repeat(1_020)}${"😀".repeat(9)}`),
  };
}

function withoutThen(value: object): unknown {
  const name = "then";
  return Object.defineProperty(value, name, {
    get() {
      throw new Error("not to be seen");
    },
  });
}

export const strangeBackoffs: Record<string, () => unknown> = {
  undefined: () => undefined,
  "no number": () => Number.NaN,
  text: () => "soon",
  bigint: () => 10n,
  promise: () => Promise.resolve(1),
  "promise that rejects": () => Promise.reject(new Error("no")),
  "promise that rejects and hides it": () => withoutThen(Promise.reject(new Error("no"))),
  "object that throws": () =>
    withoutThen({
      valueOf() {
        throw new Error("not to be seen");
      },
    }),
  throws: () => {
    throw new Error("no");
  },
  "throws a revoked proxy": () => {
    throw strangeErrors()["revoked proxy"]?.();
  },
};
