import { type Address, checksumAddress } from '@assay/protocol/address'
import { ensureDeployed } from '@assay/till/chain/own-contract'
import { royaltyBps } from '../../http/index.ts'
import {
  attestationsMigrations,
  createCitationAttester,
  type MarketSettings,
  marketVariables,
  parseMarketSettings,
} from '../attestations/index.ts'
import { transparencyLog } from '../ports.ts'
import { declareShop, type OpenShop } from '../shop.ts'
import { royaltyTermsFor } from './contract.ts'
import { royaltiesRetention } from './retention.ts'
import { royaltyRoutes } from './routes.ts'

const payoutPurposes = [{ purpose: 'royalty' }]

export const royaltiesShop = declareShop({
  name: 'royalties',
  variables: marketVariables,
  migrations: [...attestationsMigrations, new URL('./migrations/', import.meta.url)],
  retention: royaltiesRetention,
  logEntries: [{ type: 'assay.royalty/v1', kind: 'royalty' }],
  configure: ({ CITATIONS }, { demo, royaltyRecipient }) =>
    openRoyaltiesShop(royaltyRecipient, parseMarketSettings(CITATIONS, demo)),
})

/** Area C: the royalty declared in every answer's headers, and a way to remit it. */
function openRoyaltiesShop(recipient: Address, settings: MarketSettings): OpenShop {
  return async (context) => {
    const { database, clock, ids, log, keyring, jws, apiUrl, base, payees } = context
    const opened = context.ports.find(transparencyLog)
    if (!opened) return { routes: [], payoutPurposes }
    const terms = royaltyTermsFor(recipient, royaltyBps)
    const routes = royaltyRoutes({
      database,
      clock,
      ids,
      log,
      tree: opened.tree,
      witnessKeys: opened.witnessKeys,
      logUnavailable: opened.unavailable,
      attester: createCitationAttester({ keyring, jws, node: apiUrl, chainId: base.chainId }),
      apiUrl,
      recipient,
      bps: royaltyBps,
      ownAddresses: new Set([...Object.values(payees.pay_to), ...Object.values(payees.custody)]),
      windows: settings.attest,
      network: base.caip2,
      contract: checksumAddress(terms.address),
    })
    return {
      routes,
      payoutPurposes,
      jobs: [
        {
          name: 'royalties.contract',
          intervalMs: 600_000,
          work: async () => {
            for (const { chain, rpc, wallets } of context.custody?.chains ?? [])
              if (wallets && chain.network.caip2 === base.caip2)
                await ensureDeployed({ clock }, { rpc, wallets }, terms)
          },
        },
      ],
    }
  }
}
