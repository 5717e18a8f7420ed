import type { KeySource } from '@assay/till/chain/wallet'
import type { Ports as TillPorts } from '@assay/till/compose'
import { ConfigError } from '@assay/till/kernel/config-error'
import { openRemoteSigner, openSigningKeys, signerExchange } from '@assay/till/signer'
import type { KeyPlace } from '@assay/till/signing'
import type { Config } from '../config/load-config.ts'
import type { Ports } from './infrastructure.ts'

export type WalletKeys = { settlerKeys: readonly KeySource[]; custodyKeys: readonly KeySource[] }

/** The keys of the environment, or wallets whose keys are at a signer. A signer that does not answer stops the start. */
export async function openWalletKeys({ settlerKeys, custodyKeys, signer }: Config, ports: Ports): Promise<WalletKeys> {
  if (signer === undefined) return { settlerKeys, custodyKeys }
  const { clock, log, metrics } = ports
  const remote = await openRemoteSigner({ exchange: signerExchange(signer), clock, log, metrics }).catch((error) => {
    throw new ConfigError([`SIGNER_URL: ${error instanceof Error ? error.message : String(error)}`])
  })
  return { settlerKeys: remote.wallets('settler'), custodyKeys: remote.wallets('custody') }
}

export type SigningKeys = {
  signingKeyFile: KeyPlace | undefined
  logKeyFile: KeyPlace | undefined
  close(): Promise<void>
}

type SignerConfig = Pick<Config, 'mode' | 'signingKeyFile' | 'logKeyFile' | 'signer'>
type SignerPorts = Pick<TillPorts, 'clock' | 'log' | 'metrics'>

/** The files of the environment; where one is not given, the keys of the signer. A demo may do without. */
export async function openSigningKeyPlaces(config: SignerConfig, ports: SignerPorts): Promise<SigningKeys> {
  const { signingKeyFile, logKeyFile, signer } = config
  const files = { signingKeyFile, logKeyFile, close: async () => {} }
  if (signer === undefined || (signingKeyFile !== undefined && logKeyFile !== undefined)) return files
  const keys = openSigningKeys(signer, ports)
  const problems: string[] = []
  const placeOf = async (variable: string, file: string | undefined, use: 'response' | 'log') => {
    if (file !== undefined) return file
    const held = await keys.load(use).catch((error: unknown) => {
      problems.push(`SIGNER_URL: ${error instanceof Error ? error.message : String(error)}`)
      return []
    })
    if (held.length > 0) return { load: () => keys.load(use) }
    if (config.mode === 'production') problems.push(`${variable}: missing, and the signer holds no key with use ${use}`)
    return undefined
  }
  const places = {
    signingKeyFile: await placeOf('SIGNING_KEY_FILE', signingKeyFile, 'response'),
    logKeyFile: await placeOf('LOG_KEY_FILE', logKeyFile, 'log'),
  }
  if (problems.length === 0) return { ...places, close: () => keys.close() }
  await keys.close()
  throw new ConfigError(problems)
}
