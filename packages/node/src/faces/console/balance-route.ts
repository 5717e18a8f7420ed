import { type Address, checksumAddress } from '@assay/protocol/address'
import { chainOfAsset } from '@assay/protocol/asset'
import { walletParams } from '@assay/till/kernel/address-text'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration } from '../../http/index.ts'
import type { ShopContext } from '../../shops/shop.ts'

const balance = z.strictObject({
  network: z.string(),
  asset: z.string(),
  balance_micro: z.string().nullable().describe('Null where the chain could not be read.'),
})

/** What a page cannot ask a chain itself: it may talk with its own node and nobody else. */
export function balanceRoute({ assets, chains }: Pick<ShopContext, 'assets' | 'chains'>): RouteDeclaration {
  return defineRoute({
    id: 'wallet.balances',
    area: 'core',
    method: 'GET',
    path: '/v1/wallet/:wallet/balances',
    summary: 'USDC of a wallet on each chain that this node takes money on',
    params: walletParams,
    output: z.strictObject({ wallet: z.string(), data: z.array(balance), next_cursor: z.null() }),
    example: {
      params: { wallet: '0x1111111111111111111111111111111111111111' },
      output: {
        wallet: '0x1111111111111111111111111111111111111111',
        data: [
          { network: 'eip155:8453', asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', balance_micro: '12500000' },
        ],
        next_cursor: null,
      },
    },
    next: '/',
    cost: 10,
    access: {
      kind: 'free',
      handle: async ({ params }) => {
        const wallet = String(params.wallet).toLowerCase() as Address
        const data = await Promise.all(
          assets.map(async ({ caip2, usdc }) => ({
            network: chainOfAsset(caip2),
            asset: checksumAddress(usdc.address),
            balance_micro: await (chains.get(caip2)?.usdcBalance(wallet) ?? Promise.resolve(undefined)).then(
              (micro) => micro?.toString() ?? null,
              () => null,
            ),
          })),
        )
        return jsonAnswer({ wallet: checksumAddress(wallet), data, next_cursor: null })
      },
    },
  })
}
