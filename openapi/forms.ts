// The forms of texts on the wire, as regular expressions that the document publishes. They
// say what can be read; bounds, and days that no calendar has, are said in words. Without
// look-around, which not every validator knows.

const anyNumber = "(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)";
const duration = `\\+?(?:${anyNumber}(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h|d))+`;

const date = "[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])";
const time = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,9})?";
const zone = "(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])";
/** What RFC 3339 allows. The zone may be absent after a space in the middle, and then UTC is meant. */
const dateTime = `${date}(?:[Tt ]${time}${zone}| ${time})`;

/** Neither whitespace nor control characters nor `~`. */
const nameCharacter =
  "[^\\u0000-\\u0020\\u007e-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]";

export const forms = {
  duration: `^${duration}$`,
  durationOrNone: `^(?:${duration})?$`,
  durationOrNever: `^(?:never|${duration})$`,
  dateTime: `^${dateTime}$`,
  dateTimeOrNone: `^(?:${dateTime})?$`,
  queueName: `^${nameCharacter}+$`,
  queueNameOrNone: `^${nameCharacter}*$`,
  queuesPivot: "^[^~]*$",
  /** Not blank. */
  clientId: "\\S",
  itemId: "^[0-9A-Za-z]{27}$",
  itemIdOrNone: "^(?:[0-9A-Za-z]{27})?$",
  namespace: "^(?:_system)?$",
} as const;
