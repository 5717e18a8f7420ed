type Stamp = [stepSeconds: number, text: string, ...more: (string | number | null)[]]

const day = '{YYYY}-{MM}-{DD}'
const stamp = (stepSeconds: number, text: string, newYear: string, newDay: string | null): Stamp => {
  // Nothing is added where a month, an hour, a minute or a second begins; 1: what is added follows the text.
  return [stepSeconds, text, newYear, null, newDay, null, null, null, 1]
}

/** Labels of a time axis by the distance of its ticks, in the form of the console: year first, 24 hours, UTC. */
export const utcStamps: Stamp[] = [
  stamp(86_400, '{MM}-{DD}', '\n{YYYY}', null),
  stamp(60, '{HH}:{mm}', `\n${day} UTC`, '\n{MM}-{DD}'),
  stamp(1, '{HH}:{mm}:{ss}', `\n${day} UTC`, '\n{MM}-{DD}'),
]

/** A date whose local fields are those of UTC: days are days everywhere, not the evening before. */
export function utcDate(seconds: number): Date {
  const date = new Date(seconds * 1000)
  return new Date(date.getTime() + date.getTimezoneOffset() * 60_000)
}
