import type { MonitorOptions, WitnessOption } from '@assay/node/log-monitor'
import { usageError } from '../exit-codes.ts'

/** As commander gives them. */
export type MonitorFlags = {
  key: string[]
  witness: string[]
  quorum?: string
  witnessAge: string
  compare: string[]
  rpc?: string
  receipts?: string
  grace: string
  still: string
  state: string
  mirror?: string
  serve?: string
  interval: string
  once?: boolean
  json?: boolean
}

const vkeyPattern = /^[^\s+]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]+={0,2}$/

export function monitorOptions(flags: MonitorFlags, usual: MonitorOptions): MonitorOptions {
  const witnesses = flags.witness.map(parseWitness)
  for (const key of flags.key) if (!vkeyPattern.test(key)) throw usageError(`--key: not the key of a log: ${key}`)
  const quorum = flags.quorum === undefined ? witnesses.length : number('--quorum', flags.quorum)
  if (quorum > witnesses.length) throw usageError(`--quorum: ${quorum} is more than the witnesses given`)
  return {
    ...usual,
    keys: flags.key,
    witnesses,
    quorum,
    witnessAgeMs: number('--witness-age', flags.witnessAge) * 1000,
    compare: flags.compare.map((url) => logPrefix('--compare', url)),
    graceMs: number('--grace', flags.grace) * 1000,
    stillMs: number('--still', flags.still) * 1000,
    entries: flags.mirror !== undefined,
    ...(flags.rpc === undefined ? {} : { rpc: webUrl('--rpc', flags.rpc).href }),
    ...(flags.receipts === undefined ? {} : { receipts: flags.receipts }),
  }
}

export function number(name: string, text: string): number {
  if (!/^(?:0|[1-9][0-9]{0,8})$/.test(text)) throw usageError(`${name}: not a whole number: ${text}`)
  return Number(text)
}

function webUrl(name: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') throw usageError(`${name}: not a web address: ${text}`)
  return url
}

/**
 * The prefix of a log without slash at its end. The bare address of a node stands for its log; with a slash at its end it
 * is a prefix itself.
 */
export function logPrefix(name: string, text: string): string {
  const url = webUrl(name, text)
  if (url.search !== '' || url.hash !== '' || url.username !== '')
    throw usageError(`${name}: an address without query, fragment and user: ${text}`)
  const path = url.pathname.replace(/\/+$/, '')
  return `${url.origin}${path === '' && name === '<url>' && !text.endsWith('/') ? '/v1/log' : path}`
}

/** `name+id+base64`, and after the base64 perhaps `=url`: a key may itself end in `=`. */
export function parseWitness(text: string): WitnessOption {
  const [, key, url] = /^([^\s+]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]+={0,2}?)(?:=(https?:\/\/.+))?$/.exec(text) ?? []
  if (key === undefined || !vkeyPattern.test(key)) throw usageError(`--witness: not the key of a witness: ${text}`)
  return { key, ...(url === undefined ? {} : { url: webUrl('--witness', url).href.replace(/\/+$/, '') }) }
}

export function parseListen(text: string): { host: string; port: number } {
  const [, host, port] = /^(.+):([0-9]{1,5})$/.exec(text) ?? []
  if (host === undefined || port === undefined || Number(port) > 65_535)
    throw usageError(`--serve: not host:port: ${text}`)
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
}
