import { type Address, checksumAddress } from '@assay/till/kernel/address'
import { type OpenShop, royaltyBps } from '../../http/index.ts'
import {
  createCitationAttester,
  ensureDeployed,
  logOrigin,
  logPath,
  openLog,
  openWitnesses,
  parseMarketSettings,
  royaltyTermsFor,
} from '../sources/index.ts'
import { royaltyRoutes } from './routes.ts'

export type RoyaltiesShopOptions = { recipient: Address; market: Record<string, unknown> }

/** Area C: the royalty declared in every answer's headers, and a way to remit it. */
export function openRoyaltiesShop({ recipient, market }: RoyaltiesShopOptions): OpenShop {
  return async (context) => {
    const { database, clock, ids, metrics, keyring, jws, apiUrl, base, payees } = context
    const origin = await logOrigin(database, `${new URL(apiUrl).host}${logPath}`)
    const settings = parseMarketSettings(market, context.mode === 'demo')
    const tree = openLog({ database, clock, metrics, keyring, origin })
    const witnesses = await openWitnesses(context, tree, settings)
    const terms = royaltyTermsFor(recipient, royaltyBps)
    const routes = royaltyRoutes({
      database,
      clock,
      ids,
      tree,
      witnessKeys: () => witnesses.map(({ key }) => key.vkey),
      attester: createCitationAttester({ keyring, jws, node: apiUrl, chainId: base.chainId }),
      apiUrl,
      recipient,
      bps: royaltyBps,
      ownAddresses: new Set([payees.pay_to, ...Object.values(payees.custody)]),
      windows: settings.attest,
      network: base.caip2,
      contract: checksumAddress(terms.address),
    })
    return {
      routes,
      jobs: [
        {
          name: 'royalties.contract',
          intervalMs: 600_000,
          work: async () => {
            for (const { chain, rpc, wallets } of context.payouts()?.chains ?? [])
              if (wallets && chain.network.caip2 === base.caip2)
                await ensureDeployed({ clock }, { rpc, wallets }, terms)
          },
        },
      ],
    }
  }
}
