import { type IpAddress, parseIp } from './ip-address.ts'

type Block = { value: bigint; bits: bigint }

const block = (cidr: string): Block => {
  const [text = '', length = '0'] = cidr.split('/')
  const ip = parseIp(text)
  if (!ip) throw new Error(`not an address block: ${cidr}`)
  const bits = BigInt((ip.version === 4 ? 32 : 128) - Number(length))
  return { value: ip.value >> bits, bits }
}

// IANA special-purpose registries, multicast and reserved space. What they set aside is not the public internet,
// even where a block is "globally reachable" for its own protocol (such as 192.88.99.0/24).
const notGlobal4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
].map(block)

// Only 2000::/3 is handed out as global unicast; inside it these are not, and 6to4 and Teredo carry an IPv4 address
// that a relay would open for the caller. Mapped, NAT64, unique-local, link-local and multicast are outside of 2000::/3.
const global6 = block('2000::/3')
const notGlobal6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'].map(block)

const within = (ip: IpAddress, { value, bits }: Block) => ip.value >> bits === value

/** True only for addresses that anybody on the internet could reach: everything else is refused, known or not. */
export function isGlobalUnicast(text: string): boolean {
  const ip = parseIp(text)
  if (!ip) return false
  if (ip.version === 4) return !notGlobal4.some((blocked) => within(ip, blocked))
  return within(ip, global6) && !notGlobal6.some((blocked) => within(ip, blocked))
}
