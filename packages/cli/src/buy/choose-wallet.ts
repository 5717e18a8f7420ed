import { readFile, stat } from 'node:fs/promises'
import { baseNetwork, knownNetworks, type PayableNetwork, polygonNetwork, readDemo } from '@assay/sdk'
import type { LocalAccount } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { usageError } from '../exit-codes.ts'
import type { Terminal } from '../terminal.ts'
import { type NetworkNames, networkId, networkNames, unknownNetwork } from './network-names.ts'

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

export type Wallet = {
  account: LocalAccount
  networks: readonly PayableNetwork[]
  /** Words for networks: those of the demo node, or those known here. */
  names: NetworkNames
  label: string
}

/** Who pays, and where it may pay. */
export async function chooseWallet(url: string, options: WalletOptions, terminal: Terminal): Promise<Wallet> {
  if (options.demo) return demoWallet(url, options)
  const networks = namedNetworks(options)
  const names = networkNames
  const key = await readKey(options, terminal)
  if (key !== undefined) return { account: toAccount(key), networks, names, label: 'your wallet' }
  // Reading the price needs no wallet; this one is never asked to sign.
  if (options.dryRun) return { account: privateKeyToAccount(generatePrivateKey()), networks, names, label: 'no wallet' }
  throw usageError(
    'no wallet is given',
    'Put a private key into ASSAY_KEY or a file (--key-file); what a buyer does works with --demo on a demo node, too.',
  )
}

async function demoWallet(url: string, { network }: WalletOptions): Promise<Wallet> {
  const { networks, names, accounts } = await readDemo(new URL(url).origin)
  const buyer = accounts.find((account) => account.role === 'buyer')
  if (buyer === undefined) throw usageError('this demo node lends no buyer wallet')
  const wanted = network === undefined ? undefined : networkId(network, names)
  const chosen = networks.filter((one) => wanted === undefined || one.network === wanted)
  if (wanted !== undefined && chosen.length === 0) throw unknownNetwork(wanted, names)
  return {
    account: privateKeyToAccount(buyer.privateKey),
    networks: chosen,
    names,
    label: 'demo wallet, test money',
  }
}

/** USDC on the chains that are known here; on any other, the asset that is named. */
function namedNetworks(options: WalletOptions): readonly PayableNetwork[] {
  const asset = namedAsset(options)
  if (options.network === undefined) {
    if (asset !== undefined) throw usageError('--usdc, --token: say with --network which chain it is on')
    return [baseNetwork, polygonNetwork]
  }
  const network = networkId(options.network, networkNames) as PayableNetwork['network']
  const known = knownNetworks.find((one) => one.network === network)
  if (known === undefined && asset === undefined)
    throw usageError(
      `the USDC of ${network} is not known here`,
      'Name its address with --usdc, or another token with --token and --token-domain.',
    )
  return [{ ...usdcDomain, ...known, ...(asset as Pick<PayableNetwork, 'usdc'>), network }]
}

/** As the issuer of USDC deploys it on main networks. */
const usdcDomain = { name: baseNetwork.name, version: baseNetwork.version }

/** The USDC of a chain by its address, or another token: with `--token` the wallet pays with that token only. */
function namedAsset({ usdc, token, tokenDomain }: WalletOptions): Partial<PayableNetwork> | undefined {
  if (token === undefined) {
    if (tokenDomain !== undefined) throw usageError('--token-domain: say with --token of which token it is')
    return usdc === undefined ? undefined : { usdc: addressOption('--usdc', usdc) }
  }
  const [, name = '', version = ''] = /^(.+):([^:]+)$/.exec(tokenDomain ?? '') ?? []
  if (tokenDomain !== undefined && name === '')
    throw usageError(`--token-domain: not a name and a version: ${tokenDomain}`, 'Such as "USD X:1".')
  return { usdc: addressOption('--token', token), name, version }
}

function addressOption(option: string, text: string): `0x${string}` {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) throw usageError(`${option}: not an address: ${text}`)
  return text as `0x${string}`
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
