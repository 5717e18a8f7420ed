import {
  ensureDeployed,
  logOrigin,
  logPath,
  openLog,
  parseMarketSettings,
  royaltyTermsFor,
} from '../citations/index.ts'
import { type OpenShop, royaltyBps } from '../http/index.ts'
import { type Address, checksumAddress } from '../kernel/address.ts'
import { royaltyRoutes } from './routes.ts'

export type RoyaltiesShopOptions = { recipient: Address; market: Record<string, unknown> }

/** Area C: the royalty declared in every answer's headers, and a way to remit it. */
export function openRoyaltiesShop({ recipient, market }: RoyaltiesShopOptions): OpenShop {
  return async (context) => {
    const { database, clock, ids, metrics, keyring, apiUrl, base, payees } = context
    const origin = await logOrigin(database, `${new URL(apiUrl).host}${logPath}`)
    const terms = royaltyTermsFor(recipient, royaltyBps)
    const routes = royaltyRoutes({
      database,
      clock,
      ids,
      tree: openLog({ database, clock, metrics, keyring, origin }),
      apiUrl,
      recipient,
      bps: royaltyBps,
      ownAddresses: new Set([payees.pay_to, ...Object.values(payees.custody)]),
      windows: parseMarketSettings(market, context.mode === 'demo').attest,
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
