import { payable } from '../buy/payable.ts'
import { type AddCommand, jsonOption } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { nodeOption, nodeUrl, walletArgument } from './node-url.ts'

/** What a buyer, a referrer or an affiliate does: subscribe, look, redeem. */
export const addCommerce: AddCommand = (program, context) => {
  addSubscribe(program, context)
  addLoyalty(program, context)
  addRedeem(program, context)
  addAffiliate(program, context)
}

type SubscribeOptions = { node: string; on: string; demo?: boolean; maxAmount?: string; json?: boolean; yes?: boolean }

const addSubscribe: AddCommand = (program, context) => {
  payable(
    program
      .command('subscribe')
      .summary('buy 30 days of the feeds')
      .description('Pays once and prints the subscription with its token. Paying again extends it.')
      .argument('<tier>', 'standard or vip')
      .option('--on <chain>', 'where to pay: base or polygon', 'base')
      .option('--aff <wallet>', 'the affiliate that brought you')
      .option('--ref <wallet>', 'who referred you; counts with your first purchase'),
  )
    .addHelpText(
      'after',
      '\nExample:\n  assay subscribe standard --demo\n  assay subscribe vip --on polygon --max-amount 1000',
    )
    .action(async (tier: string, options: SubscribeOptions & { aff?: string; ref?: string }) => {
      if (tier !== 'standard' && tier !== 'vip') throw usageError(`there is no tier "${tier}"`, 'standard or vip.')
      if (options.on !== 'base' && options.on !== 'polygon') throw usageError('--on: base or polygon')
      const { subscribeUrl } = await import('@assay/sdk')
      const { runBuy } = await import('../buy/run-buy.ts')
      const url = subscribeUrl({
        node: nodeUrl(options.node),
        tier,
        chain: options.on,
        ...(options.aff === undefined ? {} : { affiliate: walletArgument(options.aff) }),
        ...(options.ref === undefined ? {} : { referrer: walletArgument(options.ref) }),
      })
      await runBuy(context, url, { ...options, network: options.on })
    })
}

const addLoyalty: AddCommand = (program, context) => {
  program
    .command('loyalty')
    .summary('points, tier and referral link of a wallet')
    .argument('<wallet>', 'its address')
    .option(...nodeOption)
    .option(...jsonOption)
    .action(async (wallet: string, options: { node: string; json?: boolean }) =>
      (await import('./show-rewards.ts')).showLoyalty(
        context,
        nodeUrl(options.node),
        walletArgument(wallet),
        options.json,
      ),
    )
}

const addAffiliate: AddCommand = (program, context) => {
  program
    .command('affiliate')
    .summary('what an affiliate earned and was paid')
    .argument('<wallet>', 'its address')
    .option(...nodeOption)
    .option(...jsonOption)
    .action(async (wallet: string, options: { node: string; json?: boolean }) =>
      (await import('./show-rewards.ts')).showAffiliate(
        context,
        nodeUrl(options.node),
        walletArgument(wallet),
        options.json,
      ),
    )
}

const addRedeem: AddCommand = (program, context) => {
  program
    .command('redeem')
    .summary('burn points for a pass')
    .description(
      'Signs the redemption with the wallet and prints the pass, which paid routes accept in place of payment.',
    )
    .argument('[reward]', 'which one; `assay loyalty` shows them', 'pull')
    .option('--points <n>', 'how many, a multiple of the price of the reward')
    .option(...nodeOption)
    .option('--demo', 'redeem with the buyer wallet that a demo node on this machine lends')
    .option('--key-file <path>', 'file with the private key of the wallet')
    .option('--key-env <name>', 'environment variable with that key', undefined)
    .option(...jsonOption)
    .action(async (reward: string, options: { node: string; points?: string; json?: boolean }) =>
      (await import('./show-rewards.ts')).runRedeem(context, nodeUrl(options.node), reward, options),
    )
}
