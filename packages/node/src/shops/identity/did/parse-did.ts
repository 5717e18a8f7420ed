import { type Address, parseAddress } from '@assay/protocol/address'

/** Who a DID names, as far as this node can say something about it. */
export type DidSubject =
  /** `chainId` is there for did:pkh alone: the own method speaks of a wallet on every chain of the node. */
  { kind: 'wallet'; address: Address; chainId?: number } | { kind: 'web' }

export type ParsedDid =
  | { status: 'ok'; did: string; canonical: string; subject: DidSubject; url: DidUrlParts }
  | { status: 'invalid'; detail: string }
  | { status: 'method_not_supported'; detail: string }

/** What follows the DID in a DID URL; empty for a bare DID. */
export type DidUrlParts = { path: string; query: string; fragment: string }

export const didCharsMax = 512

// did-core 3.1: idchars are letters, digits, ".", "-", "_" and percent-encoded octets; the last part is not empty.
const didPattern = /^did:([a-z0-9]+):((?:[A-Za-z0-9._:-]|%[0-9A-Fa-f]{2})*(?:[A-Za-z0-9._-]|%[0-9A-Fa-f]{2}))$/
const urlRestPattern =
  /^(\/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)?(\?(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?(#(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?$/
const pkhPattern = /^eip155:([1-9][0-9]{0,14}):(0x[0-9a-fA-F]{40})$/
const webHostPattern =
  /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:%3a[0-9]{1,5})?$/i

/** Reads a DID or a DID URL. Every text gives an outcome; nothing throws. */
export function parseDid(text: string, ownMethod: string): ParsedDid {
  if (text.length > didCharsMax) return invalid(`A DID has at most ${didCharsMax} characters here.`)
  const end = text.search(/[/?#]/)
  const did = end < 0 ? text : text.slice(0, end)
  const rest = urlRestPattern.exec(end < 0 ? '' : text.slice(end))
  const [, method, id] = didPattern.exec(did) ?? []
  if (method === undefined || id === undefined)
    return invalid('It is not did:<method>:<identifier> with a lower-case method (did-core, section 3.1).')
  if (rest === null) return invalid('What follows the DID is not a path, query or fragment of a DID URL.')
  const url = { path: rest[1] ?? '', query: (rest[2] ?? '').slice(1), fragment: (rest[3] ?? '').slice(1) }
  const named = readIdentifier(method, id, ownMethod)
  return 'status' in named ? named : { status: 'ok', did, url, ...named }
}

type Named = { canonical: string; subject: DidSubject }

function readIdentifier(method: string, id: string, ownMethod: string): Named | Exclude<ParsedDid, { status: 'ok' }> {
  if (method === ownMethod) {
    const address = parseAddress(id)
    return address === undefined
      ? invalid(`did:${ownMethod} is followed by 0x and the 40 hexadecimal digits of a wallet.`)
      : { canonical: walletDid(ownMethod, address), subject: { kind: 'wallet', address } }
  }
  if (method === 'pkh') return readPkh(id)
  if (method === 'web')
    return webHostPattern.test(id.split(':')[0] ?? '') && !id.split(':').includes('')
      ? { canonical: canonicalWeb(id), subject: { kind: 'web' } }
      : invalid('did:web is followed by a host name, its port as %3A and a number.')
  return { status: 'method_not_supported', detail: `This resolver knows did:${ownMethod}, did:pkh and did:web.` }
}

function readPkh(id: string): Named | Exclude<ParsedDid, { status: 'ok' }> {
  if (!id.startsWith('eip155:'))
    return { status: 'method_not_supported', detail: 'This resolver supports did:pkh for eip155 accounts only.' }
  const [, chain, raw] = pkhPattern.exec(id) ?? []
  const address = parseAddress(raw)
  if (chain === undefined || address === undefined)
    return invalid('did:pkh:eip155 is followed by a chain id and an address.')
  const chainId = Number(chain)
  return { canonical: pkhDid({ chainId, address }), subject: { kind: 'wallet', address, chainId } }
}

/** Host names know no case; the path behind them does. */
function canonicalWeb(id: string): string {
  const [host = '', ...path] = id.split(':')
  return ['did:web', host.toLowerCase().replace('%3a', '%3A'), ...path].join(':')
}

export function walletDid(ownMethod: string, address: Address): string {
  return `did:${ownMethod}:${address}`
}

export function pkhDid({ chainId, address }: { chainId: number; address: Address }): string {
  return `did:pkh:eip155:${chainId}:${address}`
}

/**
 * The DID that a request path names. Written into the path as it is, its own percent signs belong to it; written
 * percent-encoded, as clients with options must, it is decoded once.
 */
export function didInPath(path: string, before: string): string {
  const segment = path.slice(before.length).split('/')[0] ?? ''
  if (segment.startsWith('did:')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

function invalid(detail: string): Exclude<ParsedDid, { status: 'ok' }> {
  return { status: 'invalid', detail }
}
