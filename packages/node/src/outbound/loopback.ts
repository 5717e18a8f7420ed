import { isLoopbackIp } from '@assay/protocol/loopback'

export type LoopbackTarget = { address: string; port: number }

export function parseLoopbackOrigin(origin: string): LoopbackTarget {
  const url = new URL(origin)
  if (url.origin !== origin) throw new Error(`not an origin: ${origin}`)
  return {
    address: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || (url.protocol === 'https:' ? 443 : 80)),
  }
}

const hostName = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+test$/

/** `my.test=127.0.0.1:8080,other.test=127.0.0.1:8081`; every problem is reported. */
export function parseLoopbackHosts(text: string): { hosts: Map<string, LoopbackTarget>; problems: string[] } {
  const hosts = new Map<string, LoopbackTarget>()
  const problems: string[] = []
  for (const part of text
    .split(',')
    .map((piece) => piece.trim())
    .filter(Boolean)) {
    const [name = '', target = ''] = part.split('=')
    const [, address = '', port = ''] = /^(127\.0\.0\.\d{1,3}):(\d{1,5})$/.exec(target) ?? []
    if (!hostName.test(name)) problems.push(`${name || part}: must be a lower-case name under .test`)
    else if (!isLoopbackIp(address) || Number(port) < 1 || Number(port) > 65_535)
      problems.push(`${name}: must map to a loopback port such as 127.0.0.1:8080`)
    else hosts.set(name, { address, port: Number(port) })
  }
  return { hosts, problems }
}
