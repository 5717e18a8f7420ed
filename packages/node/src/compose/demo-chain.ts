import type { Devnet, DevnetOptions } from '@assay/till/devnet'
import { demoRolesOf } from '../config/demo-accounts.ts'
import type { ShopDeclaration } from '../shops/shop.ts'

type ChainOptions = Omit<DevnetOptions, 'roles' | 'extensions'>

/** An embedded chain with what these shops need on it. */
export async function startDemoChain(
  shops: readonly Pick<ShopDeclaration, 'demoChain' | 'demoRoles'>[],
  options: ChainOptions,
): Promise<Devnet> {
  // Loaded here and nowhere else: production carries no embedded chain.
  const { startDevnet } = await import('@assay/till/devnet')
  const extensions = shops.flatMap(({ demoChain }) => demoChain ?? [])
  return startDevnet({ ...options, roles: demoRolesOf(shops), extensions })
}
