import type { WalletOptions } from '../buy/choose-wallet.ts'
import type { AddCommand } from '../command-context.ts'
import { withSigner } from './signed-options.ts'

export type ScreenOptions = WalletOptions & {
  url: string
  feed?: string
  sort?: string
  filter?: string
  minScore?: string
  limit?: string
  symbols?: string
  json?: boolean
}

/** Saved queries of the feeds, and watchlists. */
export const addScreen: AddCommand = (program, context) => {
  const screen = program.command('screen').summary('Save, list and remove screens and watchlists')
  withSigner(screen.command('save'))
    .summary('Save a screen; the same name again replaces it')
    .argument('<name>', 'its name')
    .option('--feed <feed>', 'feed; optional for a watchlist')
    .option('--sort <columns>', 'order by columns; - before one for descending')
    .option('--filter <conditions>', 'conditions such as days_to_cover>=2,kind=share')
    .option('--min-score <number>', 'only rows whose ranking value is at least this')
    .option('-n, --limit <rows>', 'number of rows')
    .option('--symbols <list>', 'a watchlist: only these symbols, separated by commas')
    .addHelpText('after', examples)
    .action(async (name: string, options: ScreenOptions) =>
      (await import('./run-screen.ts')).saveScreen(context, name, options),
    )
  withSigner(screen.command('list'))
    .summary('List the screens and watchlists of a wallet')
    .action(async (options: ScreenOptions) => (await import('./run-screen.ts')).listScreens(context, options))
  withSigner(screen.command('remove'))
    .summary('Remove a screen')
    .argument('<id>', 'scr_…')
    .action(async (id: string, options: ScreenOptions) =>
      (await import('./run-screen.ts')).removeScreen(context, id, options),
    )
}

const examples = `
Examples:
  assay screen save 'hard to borrow' --feed squeeze --sort=-borrow_fee --filter 'borrow_fee>10' --demo
  assay screen save mine --symbols GME,AMC --demo
  assay matrix squeeze --screen scr_…`
