import { type Address, checksumAddress } from '@assay/till/kernel/address'
import { type OpenShop, royaltyBps } from '../../http/index.ts'
import {
  createCitationAttester,
  ensureDeployed,
  logOrigin,
  logPath,
  openGuard,
  openLog,
  openWitnesses,
  parseMarketSettings,
  repairedChannel,
  royaltyTermsFor,
} from '../sources/index.ts'
import { royaltyRoutes } from './routes.ts'

export type RoyaltiesShopOptions = { recipient: Address; market: Record<string, unknown> }

/** Area C: the royalty declared in every answer's headers, and a way to remit it. */
export function openRoyaltiesShop({ recipient, market }: RoyaltiesShopOptions): OpenShop {
  return async (context) => {
    const { database, clock, ids, metrics, keyring, logKeyring, jws, apiUrl, base, payees } = context
    const origin = await logOrigin(database, `${new URL(apiUrl).host}${logPath}`)
    const settings = parseMarketSettings(market, context.mode === 'demo')
    const tree = openLog({ database, clock, metrics, keyring: logKeyring, origin })
    const guard = await openGuard({ database, clock, origin })
    const stopListening = await database.listen(repairedChannel, tree.forget, tree.forget)
    const witnesses = await openWitnesses(context, tree, settings)
    const terms = royaltyTermsFor(recipient, royaltyBps)
    const routes = royaltyRoutes({
      database,
      clock,
      ids,
      tree,
      requireLogOpen: guard.requireOpen,
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
      stop: stopListening,
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
