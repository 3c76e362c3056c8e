// Regular expressions of texts on the wire, which the document publishes. They describe the syntax
// only; bounds and dates that do not exist are described in words. They use no look-around, because
// not every validator supports it.

const anyNumber = "(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)";
const duration = `\\+?(?:${anyNumber}(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h|d))+`;

const date = "[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])";
const time = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,9})?";
const zone = "(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])";
/** RFC 3339. After a space as separator the zone may be absent, which means UTC. */
const dateTime = `${date}(?:[Tt ]${time}${zone}| ${time})`;

/** No whitespace, control characters or `~`. */
const nameCharacter =
  "[^\\u0000-\\u0020\\u007e-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]";

export const forms = {
  duration: `^${duration}$`,
  durationOrNone: `^(?:${duration})?$`,
  durationPendingOrNone: `^(?:pending|(?:${duration})?)$`,
  durationOrNever: `^(?:never|${duration})$`,
  dateTime: `^${dateTime}$`,
  dateTimeOrNone: `^(?:${dateTime})?$`,
  queueName: `^${nameCharacter}+$`,
  queueNameOrNone: `^${nameCharacter}*$`,
  queuesPivot: "^[^~]*$",
  clientId: "\\S",
  itemId: "^[0-9A-Za-z]{27}$",
  itemIdOrNone: "^(?:[0-9A-Za-z]{27})?$",
  namespace: "^(?:_system)?$",
} as const;
