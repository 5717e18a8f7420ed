import { isLoopbackIp } from '../loopback.ts'

/** Where a host is, as far as its name tells: on this machine, in a private network, or out there. */
export type HostKind = 'loopback' | 'private' | 'public'

const privateNames = /(?:^|\.)(?:local|internal|intranet|lan|home|corp|test|invalid|onion|home\.arpa|localdomain)$/

/** Expects the hostname of a parsed URL: the URL parser has normalized every way to write an IPv4 address. */
export function hostKind(hostname: string): HostKind {
  const host = hostname.toLowerCase().replace(/\.$/, '')
  if (isLoopbackIp(host.replace(/^\[|\]$/g, ''))) return 'loopback'
  if (host.startsWith('[')) return kindOfIpv6(host.slice(1, -1))
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(host)) return kindOfIpv4(host.split('.').map(Number))
  if (host === 'localhost' || host.endsWith('.localhost')) return 'loopback'
  return !host.includes('.') || privateNames.test(host) ? 'private' : 'public'
}

/** Expects an address that a name was resolved to. */
export const addressKind = (address: string): HostKind => hostKind(address.includes(':') ? `[${address}]` : address)

function kindOfIpv4([a = 0, b = 0, c = 0]: readonly number[]): HostKind {
  const notGlobal =
    a === 0 ||
    a === 10 ||
    a >= 224 ||
    (a === 100 && b >= 64 && b < 128) ||
    (a === 169 && b === 254) ||
    (a === 172 && b >= 16 && b < 32) ||
    (a === 192 && (b === 168 || (b === 0 && (c === 0 || c === 2)) || (b === 88 && c === 99))) ||
    (a === 198 && (b === 18 || b === 19 || (b === 51 && c === 100))) ||
    (a === 203 && b === 0 && c === 113)
  return notGlobal ? 'private' : 'public'
}

/** Global unicast alone is public, without what carries an IPv4 address (6to4, Teredo) or is for documents. */
function kindOfIpv6(text: string): HostKind {
  const [first = 0, second = 0] = text.split(':').map((group) => Number.parseInt(group || '0', 16))
  const global = first >= 0x2000 && first <= 0x3fff
  const special = first === 0x2002 || (first === 0x2001 && (second < 0x200 || second === 0xdb8)) || first === 0x3fff
  return global && !special ? 'public' : 'private'
}
