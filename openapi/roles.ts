// What an API key may be let in for. Each operation names the role that it takes.

export const roles = {
  produce: "Add items to queues.",
  consume: "Lease items, and complete, retry, extend and release them.",
  read: "Look: at definitions, counts, stored items, metrics.",
  admin: "Everything, the other roles included.",
} as const satisfies Record<string, string>;

export type Role = keyof typeof roles;

export const roleNames = Object.keys(roles) as readonly Role[];
