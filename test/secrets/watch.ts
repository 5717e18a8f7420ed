import { Writable } from 'node:stream'

/** Something that left the node, and where. */
export type Seen = { place: string; text: string }

type Secret = {
  name: string
  spellings: readonly string[]
  handedOut: Set<Seen>
  found: Set<string>
  checkedTo: number
}

/** Everything that leaves a node, kept until the end: many secrets are only known after they have been used. */
export type Watch = {
  /** From now on, and in all that was seen before, this may appear nowhere. */
  keep(name: string, value: string | Uint8Array): void
  /** The one answer that gives a secret to its owner. */
  reportFigures(name: string, value: string, answer: Seen): void
  saw(place: string, text: string): Seen
  /** Where a log can be written to. */
  logs: Writable
  logged(): string[]
  /** Every secret that was found, by its name and where; never the secret itself. */
  leaks(): string[]
  size(): { secrets: number; texts: number; bytes: number }
}

export function createWatch(): Watch {
  /** By text, for many answers are alike, and in the order in which each came first. */
  const seen = new Map<string, Seen[]>()
  const texts: string[] = []
  const secrets = new Map<string, Secret>()
  const keep = (name: string, value: string | Uint8Array) => {
    const known = secrets.get(`${name} ${String(value)}`)
    if (known) return known
    const secret: Secret = {
      name,
      spellings: spellingsOf(value),
      handedOut: new Set(),
      found: new Set(),
      checkedTo: 0,
    }
    secrets.set(`${name} ${String(value)}`, secret)
    return secret
  }
  const saw = (place: string, text: string) => {
    const one = { place, text }
    const alike = seen.get(text)
    if (alike) alike.push(one)
    else {
      seen.set(text, [one])
      texts.push(text)
    }
    return one
  }
  /** Each secret is looked for once in each text, together with all that are as far as it. */
  const look = () => {
    const behind = [...secrets.values()].filter(({ checkedTo }) => checkedTo < texts.length)
    for (const from of new Set(behind.map(({ checkedTo }) => checkedTo))) {
      const group = behind.filter(({ checkedTo }) => checkedTo === from)
      const secretsIn = createFinder(group)
      for (const text of texts.slice(from)) for (const secret of secretsIn(text)) secret.found.add(text)
      for (const secret of group) secret.checkedTo = texts.length
    }
  }
  return {
    keep: (name, value) => void keep(name, value),
    reportFigures: (name, value, answer) => void keep(name, value).handedOut.add(answer),
    saw,
    logs: new Writable({
      write: (chunk, _encoding, done) => {
        saw('log', String(chunk))
        done()
      },
    }),
    logged: () => [...seen.values()].flat().flatMap(({ place, text }) => (place === 'log' ? [text] : [])),
    leaks: () => {
      look()
      const leaks = new Set<string>()
      for (const secret of secrets.values())
        for (const text of secret.found)
          for (const one of seen.get(text) ?? [])
            if (!secret.handedOut.has(one)) leaks.add(`${secret.name} in ${one.place}`)
      return [...leaks]
    },
    size: () => ({
      secrets: secrets.size,
      texts: [...seen.values()].reduce((sum, alike) => sum + alike.length, 0),
      bytes: texts.reduce((sum, text) => sum + text.length, 0),
    }),
  }
}

/** One walk through a text for thousands of spellings: those that begin with the four letters at a place are tried there. */
function createFinder(group: readonly Secret[]): (text: string) => Set<Secret> {
  const hash = (before: number, letter: number) => ((before << 5) ^ letter) & 0xfffff
  const known = new Uint8Array(0x100000)
  const byStart = new Map<number, { spelling: string; secret: Secret }[]>()
  for (const secret of group)
    for (const spelling of secret.spellings) {
      if (spelling.length < 4) throw new Error(`${secret.name} is too short to be looked for`)
      const start = [0, 1, 2, 3].reduce((before, at) => hash(before, spelling.charCodeAt(at)), 0)
      known[start] = 1
      byStart.set(start, [...(byStart.get(start) ?? []), { spelling, secret }])
    }
  return (text) => {
    const found = new Set<Secret>()
    let start = 0
    for (let at = 0; at < text.length; at += 1) {
      start = hash(start, text.charCodeAt(at))
      if (known[start] === 1)
        for (const { spelling, secret } of byStart.get(start) ?? [])
          if (text.startsWith(spelling, at - 3)) found.add(secret)
    }
    return found
  }
}

const textPiece = 24
const bytePiece = 16

/**
 * A beginning and an end are enough to find it where the middle was cut out, as logs cut long texts: each as it is, in
 * hexadecimal, and as it looks inside anything that is base64.
 */
function spellingsOf(value: string | Uint8Array): string[] {
  const pieces =
    typeof value === 'string'
      ? ends(value, textPiece).map((text) => ({ bytes: Buffer.from(text), texts: [text, encodeURIComponent(text)] }))
      : ends(Buffer.from(value), bytePiece).map((bytes) => ({ bytes, texts: [] }))
  return [...new Set(pieces.flatMap(({ bytes, texts }) => [...texts, ...hexOf(bytes), ...insideBase64(bytes)]))]
}

function ends<T extends { length: number; slice(start: number, end?: number): T }>(whole: T, size: number): T[] {
  return whole.length <= size ? [whole] : [whole.slice(0, size), whole.slice(-size)]
}

const hexOf = (bytes: Buffer) => [bytes.toString('hex'), bytes.toString('hex').toUpperCase()]

/** It may begin at any of three places of a group of four letters; only letters that nothing beside it changes count. */
function insideBase64(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    const whole = text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
    return [whole, whole.replaceAll('+', '-').replaceAll('/', '_')]
  })
}
