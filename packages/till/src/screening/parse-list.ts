import { type Address, parseAddress } from '@assay/protocol/address'

export type ParsedList = { addresses: ReadonlySet<Address> } | { problem: string }

const sdnMarker = 'Digital Currency Address'
const evmAddress = /^0x[0-9a-f]{40}$/i
/** Addresses of other chains, as lists of several currencies have them. */
const otherAddress = /^[A-Za-z0-9:]{20,120}$/

/**
 * One address a line (with `#` comments), or a file of the SDN list as OFAC publishes it: CSV, XML or advanced XML. A
 * file that was cut off or is something else is a problem, and never an empty list.
 */
export function parseList(text: string): ParsedList {
  const parsed = text.includes(sdnMarker) ? parseSdn(text) : parseLines(text)
  if ('addresses' in parsed && parsed.addresses.size === 0) return { problem: 'has no address of an EVM chain' }
  return parsed
}

function parseLines(text: string): ParsedList {
  const addresses = new Set<Address>()
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const word = (line.split('#')[0] ?? '').trim()
    if (word === '') continue
    const address = evmAddress.test(word) ? parseAddress(word.toLowerCase()) : undefined
    if (address) addresses.add(address)
    else if (/^0x/i.test(word) || !otherAddress.test(word)) return { problem: `line ${index + 1} is no address` }
  }
  return { addresses }
}

function parseSdn(text: string): ParsedList {
  const end = text.trimEnd()
  if (end.startsWith('<') && !/<\/(?:\w+:)?(?:sdnList|Sanctions)>$/.test(end))
    return { problem: 'is cut off at its end' }
  const addresses = new Set<Address>()
  for (const [word] of text.matchAll(/\b0x[0-9a-f]{20,}\b/gi)) {
    const address = evmAddress.test(word) ? parseAddress(word.toLowerCase()) : undefined
    if (!address) return { problem: `has a broken address, ${word.slice(0, 12)}…` }
    addresses.add(address)
  }
  return { addresses }
}
