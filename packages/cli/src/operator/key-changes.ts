import type { KeyChangeDeps, KeyPlace, Keyring, SigningKeys } from '@assay/node'
import { privateKeyToAccount } from 'viem/accounts'
import { CliError, exitCodes, usageError } from '../exit-codes.ts'
import { runningIn } from '../find-node.ts'
import type { Terminal } from '../terminal.ts'
import type { Operator } from './connect.ts'

export type WalletOptions = { url?: string; allowNewWallet?: boolean }

export type Purpose = Keyring['purpose']

export const keyFileOf = ({ signingKeyFile, logKeyFile }: Operator['config'], purpose: Purpose) =>
  purpose === 'log' ? logKeyFile : signingKeyFile

const placeOf = (places: SigningKeys, purpose: Purpose): { keyFile?: KeyPlace } => {
  const keyFile = purpose === 'log' ? places.logKeyFile : places.signingKeyFile
  return keyFile === undefined ? {} : { keyFile }
}

const openPlaces = ({ node, config }: Operator) =>
  node.openSigningKeyPlaces(config, { clock: node.systemClock, log: node.silentLog, metrics: node.silentMetrics })

export async function withKeyring<T>(
  operator: Operator,
  purpose: Purpose,
  work: (keyring: Keyring, place: { keyFile?: KeyPlace }) => Promise<T>,
): Promise<T> {
  const { node, database } = operator
  const places = await openPlaces(operator)
  const place = placeOf(places, purpose)
  const keyring = await node.createKeyring({
    database,
    clock: node.systemClock,
    rng: node.systemRng,
    log: node.silentLog,
    purpose,
    ...place,
  })
  try {
    return await work(keyring, place)
  } finally {
    await keyring.close()
    await places.close()
  }
}

/** All that a change of keys needs: the shared keyring, the node's own name, and the operator's wallet to vouch. */
export function keyChangeDeps(
  operator: Operator,
  keyring: Keyring,
  terminal: Terminal,
  options: WalletOptions,
  place: { keyFile?: KeyPlace },
): KeyChangeDeps {
  const { node, config, database } = operator
  const account = operatorAccount(operator, terminal)
  const address = account.address.toLowerCase() as `0x${string}`
  const earlier = keyring
    .statements()
    .map(({ message }) => message.operator)
    .findLast((wallet) => !/^0x0+$/.test(wallet))
  if (earlier !== undefined && earlier.toLowerCase() !== address && !options.allowNewWallet)
    throw new CliError(
      exitCodes.refused,
      'other_wallet',
      `earlier statements were signed by ${earlier}, not by ${address}`,
      {
        hint: 'Clients that know the old wallet will not follow this one. Use its key, or add --allow-new-wallet.',
      },
    )
  const name = nodeName(config, options.url)
  return {
    database,
    clock: node.systemClock,
    rng: node.systemRng,
    keyring,
    identity: {
      node: name,
      api: config.apiUrl ?? name,
      chainId: config.networks[0]?.chainId ?? 0,
      operator: address,
    },
    wallet: { address, signTypedData: (data) => account.signTypedData(data) },
    statementLog: node.statementLog,
    ...place,
  }
}

function operatorAccount({ node, config }: Operator, terminal: Terminal) {
  const given = terminal.env.OPERATOR_KEY
  if (!given && config.mode === 'demo') return privateKeyToAccount(node.demoAccount('operator').privateKey)
  if (!given)
    throw usageError(
      'OPERATOR_KEY is not set',
      'A key change is vouched for by the operator wallet: put its private key there.',
    )
  const key = given.trim().replace(/^(?!0x)/, '0x')
  if (!/^0x[0-9a-fA-F]{64}$/.test(key)) throw usageError('OPERATOR_KEY is not 32 bytes of hex')
  return privateKeyToAccount(key as `0x${string}`)
}

/** Statements name the node, so that they are worthless for any other. */
export function nodeName(
  config: Pick<Operator['config'], 'baseUrl' | 'home' | 'host' | 'port'>,
  given: string | undefined,
): string {
  if (given !== undefined) {
    if (!URL.canParse(given)) throw usageError(`--url: not a URL: ${given}`)
    return new URL(given).origin
  }
  const known = config.baseUrl ?? runningIn(config.home)
  if (known !== undefined) return known
  if (config.port === 0)
    throw usageError('the address of the node is unknown, because its port is not fixed', 'Pass --url <origin>.')
  return `http://${config.host}:${config.port}`
}
