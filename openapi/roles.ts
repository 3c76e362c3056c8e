// Roles of API keys. Each operation requires one of them.

export const roles = {
  produce: "Add items to queues.",
  consume: "Lease items, and complete, retry, extend, release and cancel them.",
  read: "Read definitions, counts, stored items and metrics.",
  admin: "Everything, including the other roles.",
} as const satisfies Record<string, string>;

export type Role = keyof typeof roles;

export const roleNames = Object.keys(roles) as readonly Role[];
