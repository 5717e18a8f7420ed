import { readFileSync } from 'node:fs'
import { type Address, parseAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { isLoopbackHost, isLoopbackIp } from '@assay/protocol/loopback'
import { demoAccounts } from '@assay/till/devnet/accounts'
import { type PayoutPolicy, parsePayoutPolicy } from '@assay/till/payouts'
import type { SignerConnection } from '@assay/till/signer'
import { readKeys } from '../http/index.ts'
import { type LoopbackTarget, parseIp, parseLoopbackHosts } from '../outbound/index.ts'
import type { Config } from './config-type.ts'
import type { Environment } from './environment.ts'

/** Anyone between us and a provider without TLS could tell us what the chain says. */
export function checkUrls(name: string, urls: readonly string[], problems: string[]): readonly string[] {
  for (const url of urls) {
    const parsed = /^https?:\/\//.test(url) && URL.canParse(url) ? new URL(url) : undefined
    if (!parsed) problems.push(`${name}: not an http(s) URL in the list`)
    else if (parsed.protocol === 'http:' && !isLoopbackHost(parsed.hostname) && !isLoopbackIp(parsed.hostname))
      problems.push(`${name}: must be https, http is for this machine only: ${parsed.host}`)
  }
  return urls
}

/** A base address is an origin: scheme, host and port, nothing behind it. */
export function checkOrigin(name: string, value: string | undefined, problems: string[]): string | undefined {
  if (value === undefined) return undefined
  const origin = URL.canParse(value) ? new URL(value) : undefined
  if (
    !origin ||
    !/^https?:$/.test(origin.protocol) ||
    origin.pathname !== '/' ||
    origin.search ||
    origin.hash ||
    origin.username
  )
    problems.push(`${name}: must be an origin such as https://api.example.org, without path`)
  return origin?.origin
}

export function settlerKeys(env: Environment, demo: boolean, problems: string[]): Hex[] {
  const given = readKeys('SETTLER_KEYS', { text: env.SETTLER_KEYS, file: env.SETTLER_KEYS_FILE }, problems)
  return given ?? (demo && env.SIGNER_URL === undefined ? demoKeys('settler') : [])
}

export function custodyKeys(env: Environment, demo: boolean, problems: string[]): Hex[] {
  const given = readKeys('CUSTODY_KEYS', { text: env.CUSTODY_KEYS, file: env.CUSTODY_KEYS_FILE }, problems)
  return given ?? (demo && env.CUSTODY === undefined && env.SIGNER_URL === undefined ? demoKeys('custody') : [])
}

/** The signer that holds the wallets' keys, and the files that both sides prove themselves with. */
export function signerConnection(env: Environment, problems: string[]): SignerConnection | undefined {
  const { SIGNER_URL: url } = env
  if (url === undefined) return undefined
  if (!url.startsWith('https://') || checkOrigin('SIGNER_URL', url, problems) === undefined)
    problems.push('SIGNER_URL: must be https, both sides prove themselves by certificate')
  const here = { SETTLER_KEYS: settlerKeys(env, false, []), CUSTODY_KEYS: custodyKeys(env, false, []) }
  for (const [name, keys] of Object.entries(here))
    if (keys.length > 0)
      problems.push(`${name} or ${name}_FILE: is not used with SIGNER_URL, the signer holds the keys`)
  const read = (name: 'SIGNER_CA_FILE' | 'SIGNER_CERT_FILE' | 'SIGNER_KEY_FILE') => {
    const path = env[name]
    try {
      if (path !== undefined) return readFileSync(path, 'utf8')
      problems.push(`${name}: missing, needed by SIGNER_URL`)
    } catch {
      problems.push(`${name}: ${path} cannot be read`)
    }
    return ''
  }
  return { url, ca: read('SIGNER_CA_FILE'), cert: read('SIGNER_CERT_FILE'), key: read('SIGNER_KEY_FILE') }
}

export function telemetry(env: Environment, problems: string[]): Config['telemetry'] {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: text = '' } = env
  if (endpoint === undefined) return undefined
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol))
    problems.push('OTEL_EXPORTER_OTLP_ENDPOINT: must be an http(s) URL such as http://127.0.0.1:4318')
  const pairs = text.split(',').filter(Boolean)
  const headers = pairs.map((pair) => /^\s*([!#$%&'*+.^_`|~\w-]+)=([\x20-\x7e]*)$/.exec(pair))
  if (headers.includes(null)) problems.push('OTEL_EXPORTER_OTLP_HEADERS: must be name=value, separated by commas')
  return {
    endpoint,
    headers: Object.fromEntries(headers.flatMap((pair) => (pair ? [[pair[1] ?? '', (pair[2] ?? '').trim()]] : []))),
    serviceName: env.OTEL_SERVICE_NAME,
  }
}

const demoKeys = (role: string) =>
  demoAccounts.filter((account) => account.role === role).map((account) => account.privateKey)

export function factoryList(value: string | undefined, problems: string[]): Address[] {
  const parts = (value ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
  const parsed = parts.map(parseAddress)
  if (parsed.includes(undefined)) problems.push('ERC6492_FACTORIES: must be a list of addresses')
  return parsed.filter((address): address is Address => address !== undefined)
}

export function dnsServers(text: string, problems: string[]): string[] {
  const servers = text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
  if (new Set(servers).size < 2 || servers.some((server) => parseIp(server) === undefined))
    problems.push('DNS_SERVERS: must be the IP addresses of two or more resolvers, such as 1.1.1.1,9.9.9.9')
  return servers
}

export function demoHosts(
  text: string | undefined,
  demo: boolean,
  problems: string[],
): ReadonlyMap<string, LoopbackTarget> {
  if (text === undefined) return new Map()
  if (!demo) problems.push('DEMO_HOSTS: is for demo mode, a production node never asks its own machine')
  const parsed = parseLoopbackHosts(text)
  problems.push(...parsed.problems.map((problem) => `DEMO_HOSTS: ${problem}`))
  return parsed.hosts
}

export function payoutPolicy(given: Record<string, unknown> | undefined, problems: string[]): PayoutPolicy {
  try {
    return parsePayoutPolicy(given)
  } catch (error) {
    problems.push((error as Error).message)
    return parsePayoutPolicy()
  }
}
