import { readFile, stat } from 'node:fs/promises'
import {
  baseNetwork,
  baseSepoliaNetwork,
  type PayableNetwork,
  polygonAmoyNetwork,
  polygonNetwork,
  readDemo,
} from '@assay/sdk'
import type { LocalAccount } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { usageError } from '../exit-codes.ts'
import type { Terminal } from '../terminal.ts'
import { networkNames } from './network-names.ts'

export type WalletOptions = {
  demo?: boolean
  keyFile?: string
  keyEnv?: string
  network?: string
  usdc?: string
  token?: string
  tokenDomain?: string
  dryRun?: boolean
}

export type Wallet = { account: LocalAccount; networks: readonly PayableNetwork[]; label: string }

const known = [baseNetwork, polygonNetwork, baseSepoliaNetwork, polygonAmoyNetwork]

/** Who pays, and where it may pay. */
export async function chooseWallet(url: string, options: WalletOptions, terminal: Terminal): Promise<Wallet> {
  if (options.demo) return demoWallet(url, options)
  const networks = withToken(withUsdc(namedNetworks(options.network), options), options)
  const key = await readKey(options, terminal)
  if (key !== undefined) return { account: toAccount(key), networks, label: 'your wallet' }
  // Reading the price needs no wallet; this one is never asked to sign.
  if (options.dryRun) return { account: privateKeyToAccount(generatePrivateKey()), networks, label: 'no wallet' }
  throw usageError(
    'no wallet is given',
    'Put a private key into ASSAY_KEY or a file (--key-file); what a buyer does works with --demo on a demo node, too.',
  )
}

async function demoWallet(url: string, options: WalletOptions): Promise<Wallet> {
  const { networks, accounts } = await readDemo(new URL(url).origin)
  const buyer = accounts.find((account) => account.role === 'buyer')
  if (buyer === undefined) throw usageError('this demo node lends no buyer wallet')
  const wanted = options.network === undefined ? undefined : namedNetworks(options.network)[0]?.network
  return {
    account: privateKeyToAccount(buyer.privateKey),
    networks: wanted === undefined ? networks : networks.filter(({ network }) => network === wanted),
    label: 'demo wallet, test money',
  }
}

function namedNetworks(name: string | undefined): readonly PayableNetwork[] {
  if (name === undefined) return [baseNetwork, polygonNetwork]
  const caip2 = networkNames[name] ?? name
  const network = known.find((one) => one.network === caip2)
  if (network === undefined)
    throw usageError(`unknown network: ${name}`, `One of ${Object.keys(networkNames).join(', ')}.`)
  return [network]
}

/** The dollar of an embedded chain is at its own address; nobody pays with it who did not name it. */
function withUsdc(networks: readonly PayableNetwork[], { network, usdc }: WalletOptions): readonly PayableNetwork[] {
  if (usdc === undefined) return networks
  if (network === undefined) throw usageError('--usdc: say with --network which chain it is on')
  if (!/^0x[0-9a-fA-F]{40}$/.test(usdc)) throw usageError(`--usdc: not an address: ${usdc}`)
  return networks.map((one) => ({ ...one, usdc: usdc as `0x${string}` }))
}

/** With `--token` the wallet pays with that token only, and never with USDC. */
function withToken(networks: readonly PayableNetwork[], options: WalletOptions): readonly PayableNetwork[] {
  const { network, token, tokenDomain } = options
  if (token === undefined) {
    if (tokenDomain !== undefined) throw usageError('--token-domain: say with --token of which token it is')
    return networks
  }
  if (network === undefined) throw usageError('--token: say with --network which chain it is on')
  if (!/^0x[0-9a-fA-F]{40}$/.test(token)) throw usageError(`--token: not an address: ${token}`)
  const [, name = '', version = ''] = /^(.+):([^:]+)$/.exec(tokenDomain ?? '') ?? []
  if (tokenDomain !== undefined && name === '')
    throw usageError(`--token-domain: not a name and a version: ${tokenDomain}`, 'Such as "USD X:1".')
  return networks.map((one) => ({ ...one, usdc: token as `0x${string}`, name, version }))
}

async function readKey(options: WalletOptions, terminal: Terminal): Promise<string | undefined> {
  if (options.keyFile === undefined) {
    const name = options.keyEnv ?? 'ASSAY_KEY'
    const value = terminal.env[name]
    if (options.keyEnv !== undefined && !value) throw usageError(`--key-env: ${name} is not set`)
    return value || undefined
  }
  const path = options.keyFile
  const found = await stat(path).catch(() => {
    throw usageError(`--key-file: cannot read ${path}`)
  })
  if ((found.mode & 0o077) !== 0) terminal.say(`warning: ${path} can be read by others; make its mode 0600`)
  return readFile(path, 'utf8')
}

function toAccount(text: string): LocalAccount {
  const key = text.trim().replace(/^(?!0x)/, '0x')
  // The text itself must never reach a message.
  if (!/^0x[0-9a-fA-F]{64}$/.test(key)) throw usageError('the wallet key is not 32 bytes of hex')
  return privateKeyToAccount(key as `0x${string}`)
}
