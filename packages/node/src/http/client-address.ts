import { isIP } from 'node:net'

/** The caller's address. Forwarded addresses count only from as many proxies as the operator runs. */
export function clientAddress(peer: string, forwardedFor: string | undefined, trustedHops: number): string {
  if (trustedHops === 0 || forwardedFor === undefined) return unmap(peer)
  const hops = forwardedFor.split(',')
  const claimed = hops[hops.length - trustedHops]?.trim() ?? ''
  return isIP(claimed) === 0 ? unmap(peer) : unmap(claimed)
}

const unmap = (address: string) => (address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address)

/** One household has one IPv6 /64, so its 2^64 addresses share one limit. */
export function limitKey(address: string): string {
  if (!address.includes(':')) return address
  const [head = '', tail = ''] = (address.split('%')[0] ?? '').toLowerCase().split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === '' ? [] : tail.split(':')
  const gap = address.includes('::') ? Math.max(0, 8 - left.length - right.length) : 0
  const groups = [...left, ...new Array<string>(gap).fill('0'), ...right].slice(0, 4)
  return `${groups.map((group) => group.replace(/^0+(?=.)/, '')).join(':')}::/64`
}
