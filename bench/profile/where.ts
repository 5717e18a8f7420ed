import type { Frame } from '../process/profiling.ts'

/** What a frame is part of, in words for the table. */
export function placeOf({ functionName, url }: Frame): string {
  if (functionName === '(garbage collector)') return 'garbage collection'
  if (functionName === '(program)') return 'native code: system calls, the event loop'
  if (/^(write|writev|shutdown|send)/i.test(functionName) && !url.includes('packages/')) return 'writes to sockets'
  if (url.startsWith('wasm:')) return 'secp256k1 and Keccak (WASM)'
  const [, library] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? []
  if (library !== undefined) return libraryOf(library)
  const [, owner, folder = ''] = /packages\/([^/]+)\/src\/([^/]+)/.exec(url) ?? []
  if (owner !== undefined) return `ours: ${owner}/${folder.replace(/\.ts$/, '')}`
  if (/^node:(internal\/)?crypto|^node:internal\/crypto/.test(url)) return 'node:crypto: ed25519, SHA-256'
  if (/^node:(_http|net|internal\/(http|net|stream))/.test(url)) return 'node:http, sockets'
  if (/^node:(_stream|stream|internal\/streams|events|internal\/event)/.test(url)) return 'node:stream, events'
  if (/^node:(buffer|internal\/buffer|string_decoder|internal\/encoding|internal\/url|url)/.test(url))
    return 'buffers and text'
  if (url.startsWith('node:')) return 'Node: timers, promises, others'
  return functionName === '' ? 'unnamed' : nativeOf(functionName)
}

const libraryOf = (name: string) => (/^(pg|pg-.*|postgres-.*)$/.test(name) ? 'database driver (pg)' : name)

function nativeOf(name: string): string {
  if (/ecdsa|recover|publicKey|secp256k1/i.test(name)) return 'secp256k1 (native)'
  // `run` is the job that signs.
  if (/^run$|sign|verify|digest|hash|update/i.test(name)) return 'node:crypto: ed25519, SHA-256'
  if (/utf8|latin1|hex|base64|slice|copy|byteLength|toString/i.test(name)) return 'buffers and text'
  return 'native code: system calls, the event loop'
}

export type Share = { what: string; share: number; most: string }

/** Shares of the time the process worked, the largest first, each with the function that took most of it. */
export function sharesOf(frames: readonly Frame[], rows: number): Share[] {
  const busy = frames.filter(({ functionName }) => functionName !== '(idle)')
  const whole = busy.reduce((sum, { selfMicros }) => sum + selfMicros, 0)
  const places = new Map<string, { micros: number; top: Frame }>()
  for (const frame of busy) {
    const what = placeOf(frame)
    const place = places.get(what) ?? { micros: 0, top: frame }
    place.micros += frame.selfMicros
    if (frame.selfMicros > place.top.selfMicros) place.top = frame
    places.set(what, place)
  }
  const shares = [...places]
    .map(([what, { micros, top }]) => ({ what, share: micros / whole, most: top.functionName || 'unnamed' }))
    .sort((a, b) => b.share - a.share)
  const shown = shares.slice(0, rows)
  const rest = shares.slice(rows).reduce((sum, { share }) => sum + share, 0)
  return rest > 0 ? [...shown, { what: 'everything else', share: rest, most: '' }] : shown
}
