import { readFileSync } from 'node:fs'
import { type Address, parseAddress } from '@assay/till/kernel/address'
import { type Hex, isHex } from '@assay/till/kernel/bytes'
import { demoAccounts, demoMover } from '../devnet/accounts.ts'
import { type LoopbackTarget, parseIp, parseLoopbackHosts } from '../outbound/index.ts'
import type { Environment } from './environment.ts'

export function checkUrls(name: string, urls: readonly string[], problems: string[]): readonly string[] {
  for (const url of urls)
    if (!/^https?:\/\//.test(url) || !URL.canParse(url)) problems.push(`${name}: not an http(s) URL in the list`)
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
  const text =
    env.SETTLER_KEYS ??
    (env.SETTLER_KEYS_FILE === undefined ? undefined : readKeys('SETTLER_KEYS_FILE', env.SETTLER_KEYS_FILE, problems))
  if (text === undefined)
    return demo ? demoAccounts.filter((account) => account.role === 'settler').map((account) => account.privateKey) : []
  return keyList('SETTLER_KEYS', text, problems)
}

export function custodyKeys(env: Environment, demo: boolean, problems: string[]): Hex[] {
  const text =
    env.CUSTODY_KEYS ??
    (env.CUSTODY_KEYS_FILE === undefined ? undefined : readKeys('CUSTODY_KEYS_FILE', env.CUSTODY_KEYS_FILE, problems))
  if (text === undefined)
    return demo && env.CUSTODY === undefined
      ? demoAccounts.filter((account) => account.role === 'custody').map((account) => account.privateKey)
      : []
  return keyList('CUSTODY_KEYS', text, problems)
}

/** One key, which is none of the others: whoever has the custody key must not be able to move what was paid out of it. */
export function moverKey(env: Environment, demo: boolean, others: readonly Hex[], problems: string[]): Hex | undefined {
  const text =
    env.MOVER_KEY ??
    (env.MOVER_KEY_FILE === undefined ? undefined : readKeys('MOVER_KEY_FILE', env.MOVER_KEY_FILE, problems))
  if (text === undefined) return demo ? demoMover.privateKey : undefined
  const keys = keyList('MOVER_KEY', text, problems)
  if (keys.length !== 1) problems.push('MOVER_KEY: must be one key')
  if (keys.some((key) => others.some((other) => other.toLowerCase() === key.toLowerCase())))
    problems.push('MOVER_KEY: must not be a key of CUSTODY_KEYS or SETTLER_KEYS')
  return keys[0]
}

function keyList(name: string, text: string, problems: string[]): Hex[] {
  const keys = text.split(/[\s,]+/).filter(Boolean)
  // The value itself must never reach a message.
  if (!keys.every((key) => isHex(key, 32))) problems.push(`${name}: each must be 32 bytes of hex`)
  return keys.filter((key): key is Hex => isHex(key, 32))
}

function readKeys(name: string, path: string, problems: string[]): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    problems.push(`${name}: cannot be read: ${path}`)
    return ''
  }
}

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
