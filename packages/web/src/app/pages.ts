import type { ComponentType } from 'preact'
import { StartPage } from '../pages/start/start-page.tsx'
import type { Route } from './route.ts'

export type PageProps = { route: Route }
type Page = {
  name: string
  title: string
  group: 'look' | 'trade' | 'yours' | 'node'
  load: () => Promise<ComponentType<PageProps>> | ComponentType<PageProps>
}

/** One line a page; all but the first load when they are opened. */
export const pages: readonly Page[] = [
  { name: 'start', title: 'Start', group: 'look', load: () => StartPage },
  {
    name: 'token',
    title: 'Token check',
    group: 'look',
    load: async () => (await import('../pages/token/token-page.tsx')).TokenPage,
  },
  {
    name: 'matrix',
    title: 'Squeeze matrix',
    group: 'look',
    load: async () => (await import('../pages/matrix/matrix-page.tsx')).MatrixPage,
  },
  {
    name: 'search',
    title: 'Source search',
    group: 'look',
    load: async () => (await import('../pages/search/search-page.tsx')).SearchPage,
  },
  {
    name: 'sources',
    title: 'Sources',
    group: 'look',
    load: async () => (await import('../pages/sources/sources-page.tsx')).SourcesPage,
  },
  {
    name: 'explorer',
    title: 'Explorer',
    group: 'look',
    load: async () => (await import('../pages/explorer/explorer-page.tsx')).ExplorerPage,
  },
  {
    name: 'stream',
    title: 'Intent stream',
    group: 'trade',
    load: async () => (await import('../pages/stream/stream-page.tsx')).StreamPage,
  },
  {
    name: 'options',
    title: 'Topic options',
    group: 'trade',
    load: async () => (await import('../pages/options/options-page.tsx')).OptionsPage,
  },
  {
    name: 'wallet',
    title: 'Wallet',
    group: 'yours',
    load: async () => (await import('../pages/wallet/wallet-page.tsx')).WalletPage,
  },
  {
    name: 'verify',
    title: 'Verifier',
    group: 'yours',
    load: async () => (await import('../pages/verify/verify-page.tsx')).VerifyPage,
  },
  {
    name: 'operator',
    title: 'Operator',
    group: 'node',
    load: async () => (await import('../pages/operator/operator-page.tsx')).OperatorPage,
  },
]

export const groups = [
  ['look', 'Ask'],
  ['trade', 'Market'],
  ['yours', 'Yours'],
  ['node', 'Node'],
] as const
