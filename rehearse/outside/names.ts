import { writeFile } from 'node:fs/promises'

/** Names that the node and its buyers use, all of them answered on this machine. */
export const hosts = {
  node: 'assay.rehearsal.example',
  api: 'api.assay.rehearsal.example',
  cdp: 'api.cdp.coinbase.com',
  publishers: ['www.sec.gov', 'data.sec.gov', 'cdn.finra.org', 'www.nasdaqtrader.com'],
  sites: ['pressed-herbarium.org', 'printed-tidetables.org'],
} as const

export const allHosts = [hosts.node, hosts.api, hosts.cdp, ...hosts.publishers, ...hosts.sites]

/** Public addresses, so that the node's own checks of addresses are the real ones; the table leads them to loopback. */
const addressOf = (host: string) => `93.184.216.${10 + allHosts.indexOf(host as never)}`

export type Internet = { web: number; facilitator: number; dns: number }

/** What `internet.mjs` reads. */
export async function writeInternet(file: string, { web, facilitator, dns }: Internet): Promise<void> {
  const names = Object.fromEntries(allHosts.map((host) => [host, addressOf(host)]))
  const ports = Object.fromEntries(
    allHosts.map((host) => [`${addressOf(host)}:443`, host === hosts.cdp ? facilitator : web]),
  )
  await writeFile(file, JSON.stringify({ names, ports, dns }))
}

export const publicAddressOf = (host: string): string | undefined =>
  allHosts.includes(host as never) ? addressOf(host) : undefined
