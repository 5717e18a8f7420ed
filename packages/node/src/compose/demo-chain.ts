import type { Devnet, DevnetOptions } from '@assay/till/devnet'
import { demoRoles } from '../config/demo-accounts.ts'
import type { ShopDeclaration } from '../shops/shop.ts'

type ChainOptions = Omit<DevnetOptions, 'roles' | 'extensions'>

/** An embedded chain with what these shops need on it. */
export async function startDemoChain(
  shops: readonly Pick<ShopDeclaration, 'demoChain'>[],
  options: ChainOptions,
): Promise<Devnet> {
  // Loaded here and nowhere else: production carries no embedded chain.
  const { startDevnet } = await import('@assay/till/devnet')
  return startDevnet({ ...options, roles: demoRoles, extensions: shops.flatMap(({ demoChain }) => demoChain ?? []) })
}
