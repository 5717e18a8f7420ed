import { payable } from '../buy/payable.ts'
import { type AddCommand, jsonOption } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { nodeOption } from '../find-node.ts'
import { nodeUrl, walletArgument } from './node-url.ts'

/** What a buyer, a referrer or an affiliate does: subscribe, look, redeem. */
export const addCommerce: AddCommand = (program, context) => {
  addSubscribe(program, context)
  addLoyalty(program, context)
  addRedeem(program, context)
  addAffiliate(program, context)
}

type SubscribeOptions = { url: string; on: string; demo?: boolean; maxAmount?: string; json?: boolean; yes?: boolean }

const addSubscribe: AddCommand = (program, context) => {
  payable(
    program
      .command('subscribe')
      .summary('Buy a 30-day subscription to the feeds')
      .description('Pay once and print the subscription with its token. Paying again extends it.')
      .argument('<tier>', 'standard or vip')
      .option('--on <chain>', 'network to pay on: base or polygon', 'base')
      .option('--aff <wallet>', 'affiliate wallet')
      .option('--ref <wallet>', 'referrer wallet; counts with your first purchase'),
  )
    .addHelpText(
      'after',
      '\nExample:\n  assay subscribe standard --demo\n  assay subscribe vip --on polygon --demo --max-amount 1000',
    )
    .action(async (tier: string, options: SubscribeOptions & { aff?: string; ref?: string }) => {
      if (tier !== 'standard' && tier !== 'vip') throw usageError(`there is no tier "${tier}"`, 'standard or vip.')
      if (options.on !== 'base' && options.on !== 'polygon') throw usageError('--on: base or polygon')
      const { subscribeUrl } = await import('@assay/sdk')
      const { runBuy } = await import('../buy/run-buy.ts')
      const url = subscribeUrl({
        node: nodeUrl(options.url),
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
    .summary('Show points, tier and referral link of a wallet')
    .argument('<wallet>', 'its address')
    .option(...nodeOption)
    .option(...jsonOption)
    .action(async (wallet: string, options: { url: string; json?: boolean }) =>
      (await import('./show-rewards.ts')).showLoyalty(
        context,
        nodeUrl(options.url),
        walletArgument(wallet),
        options.json,
      ),
    )
}

const addAffiliate: AddCommand = (program, context) => {
  program
    .command('affiliate')
    .summary('Show what an affiliate earned and was paid')
    .argument('<wallet>', 'its address')
    .option(...nodeOption)
    .option(...jsonOption)
    .action(async (wallet: string, options: { url: string; json?: boolean }) =>
      (await import('./show-rewards.ts')).showAffiliate(
        context,
        nodeUrl(options.url),
        walletArgument(wallet),
        options.json,
      ),
    )
}

const addRedeem: AddCommand = (program, context) => {
  program
    .command('redeem')
    .summary('Redeem points for a pass')
    .description(
      'Signs the redemption with the wallet and prints the pass, which paid routes accept in place of payment.',
    )
    .argument('[reward]', 'reward id from `assay loyalty`', 'pull')
    .option('--points <n>', 'points to redeem, a multiple of the price of the reward')
    .option(...nodeOption)
    .option('--demo', 'redeem with the buyer wallet of a demo node on this machine')
    .option('--key-file <path>', 'file with the private key of the wallet')
    .option('--key-env <name>', 'environment variable with that key', undefined)
    .option(...jsonOption)
    .action(async (reward: string, options: { url: string; points?: string; json?: boolean }) =>
      (await import('./show-rewards.ts')).runRedeem(context, nodeUrl(options.url), reward, options),
    )
}
