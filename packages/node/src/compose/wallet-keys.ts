import type { KeySource } from '@assay/till/chain/wallet'
import { ConfigError } from '@assay/till/kernel/config-error'
import { openRemoteSigner, signerExchange } from '@assay/till/signer'
import type { Config } from '../config/load-config.ts'
import type { Ports } from './ground.ts'

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
