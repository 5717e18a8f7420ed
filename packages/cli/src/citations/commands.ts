import type { Command } from 'commander'
import { payable } from '../buy/payable.ts'
import { type AddCommand, jsonOption } from '../command-context.ts'
import { nodeUrl, walletArgument } from '../commerce/node-url.ts'
import { usageError } from '../exit-codes.ts'
import { nodeOption } from '../find-node.ts'
import { withOperator } from '../operator/connect.ts'
import { reasonOption } from '../read-option.ts'
import type { AuditOptions } from './run-audit.ts'

const collect = (value: string, earlier: string[]) => [...earlier, value]

import type { EarningsOptions } from './run-earnings.ts'

/** What a citing agent and a creator do. */
export const addCitations: AddCommand = (program, context) => {
  addCite(program, context)
  addClaim(program, context)
  addAttestation(program, context)
  addCreators(program, context)
  addRoyalty(program, context)
  addWitness(program, context)
}

const payableToFile = (command: Command): Command =>
  payable(command)
    .option('--out <file>', 'write an evidence file for `assay verify`')
    .option('--witness-wait <seconds>', 'maximum time to wait for witnesses, with --out', '15')

const addCite: AddCommand = (program, context) => {
  payableToFile(
    program
      .command('cite')
      .summary('Attest a citation and pay its creator')
      .description('Pay 0.005 USD, nine tenths of it to the creator, and print the attestation with its log proof.')
      .argument('<url>', 'URL of the cited page')
      .option('--quote <text>', 'words that must be on the page')
      .option('--claim <text>', 'statement that the citation supports; only its digest is stored')
      .option('--query-id <id>', 'the match that led to the page'),
  )
    .addHelpText('after', '\nExample:\n  assay cite http://squeeze-desk.test/borrow-cost --demo --out citation.json')
    .action(async (url: string, options) => {
      const { runCite } = await import('./run-citations.ts')
      await runCite(context, nodeUrl(options.url), url, options)
    })
}

const addClaim: AddCommand = (program, context) => {
  payableToFile(
    program
      .command('claim')
      .summary('Attest a statement with the pages it is based on')
      .description('Pay 0.005 USD, shared by the sources. Only the digest of the statement is stored.')
      .argument('<statement>', 'statement')
      .option('--source <url>', 'URL of a page it is based on; repeatable, most important first', collect, []),
  ).action(async (statement: string, options) => {
    if (options.source.length === 0) throw usageError('a claim rests on at least one --source')
    const { runClaim } = await import('./run-citations.ts')
    await runClaim(context, nodeUrl(options.url), statement, options)
  })
}

const addAttestation: AddCommand = (program, context) => {
  program
    .command('attestation')
    .summary('Show an attestation with its witnesses and payout')
    .argument('<id>', 'such as att_…')
    .option('--out <file>', 'write it to this file, for `assay verify`')
    .option(...nodeOption)
    .option(...jsonOption)
    .action(async (id: string, options: { url: string; out?: string; json?: boolean }) => {
      const { showAttestation } = await import('./run-citations.ts')
      await showAttestation(context, nodeUrl(options.url), id, options)
    })
}

const addCreators: AddCommand = (program, context) => {
  const creators = program
    .command('creators')
    .summary('Show and check payouts to creators, and the contracts that pay them')
  creators
    .command('earnings')
    .description('Show what a creator earned and how to claim it')
    .argument('<wallet>', 'its address')
    .option('--by <what>', 'list what it earned by page, payer or day')
    .option('--from <date>', 'earnings from this day on (UTC)')
    .option('--until <date>', 'earnings up to this day')
    .option('--csv', 'print earnings as CSV')
    .option(...nodeOption)
    .option(...jsonOption)
    .action(async (wallet: string, options: EarningsOptions & { url: string; json?: boolean }) => {
      const { showCreator } = await import('./run-citations.ts')
      if (options.by !== undefined || options.csv) {
        const { showEarnings } = await import('./run-earnings.ts')
        return showEarnings(context, nodeUrl(options.url), walletArgument(wallet), options)
      }
      await showCreator(context, nodeUrl(options.url), walletArgument(wallet), options.json)
    })
  creators
    .command('audit')
    .description(
      'Recompute the root of an epoch from the log entries it pays for, each verified with its proof. Exit code 5 when ' +
        'they differ. With --rpc also compare with the contract.',
    )
    .argument('<epoch>', 'number of the epoch')
    .option('--network <caip2>', 'chain of the distributor', 'eip155:8453')
    .option('--distributor <contract>', 'an earlier contract; default: the current one')
    .option('--rpc <url>', 'endpoint of that chain')
    .option(...nodeOption)
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  assay creators audit 12 --rpc https://mainnet.base.org')
    .action(async (epoch: string, options: AuditOptions & { url: string }) => {
      if (!/^[1-9]\d{0,17}$/.test(epoch)) throw usageError(`not the number of an epoch: ${epoch}`)
      const { runAudit } = await import('./run-audit.ts')
      await runAudit(context, nodeUrl(options.url), BigInt(epoch), options)
    })
  creators
    .command('distributors')
    .description('List the contracts that pay creators: current, earlier, and wanted by the settings of a process')
    .option(...jsonOption)
    .action((options: { json?: boolean }) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./run-distributors.ts')).listDistributors(context, operator, options),
      ),
    )
  creators
    .command('accept-distributor')
    .description('Send new roots to the contract that follows from changed settings; earlier ones go on paying')
    .argument('<contract>', 'address, as `assay creators distributors` shows it')
    .option('--network <caip2>', 'its chain', 'eip155:8453')
    .requiredOption(...reasonOption)
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nExample:\n  assay creators accept-distributor $CONTRACT --reason "the custody key was stolen"',
    )
    .action((contract: string, options: { network: string; reason: string; json?: boolean }) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./run-distributors.ts')).acceptDistributor(context, operator, contract, options),
      ),
    )
}

const addRoyalty: AddCommand = (program, context) => {
  const royalty = program.command('royalty').summary('Compute and remit royalties')
  royalty
    .command('info')
    .description('Print the royalty on a price.')
    .argument('<price>', 'price in USD, such as 12.50')
    .option(...nodeOption)
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  assay royalty info 12.50')
    .action(async (price: string, options: { url: string; json?: boolean }) => {
      const { showRoyalty } = await import('./run-citations.ts')
      await showRoyalty(context, nodeUrl(options.url), price, options.json)
    })
  payableToFile(
    royalty
      .command('remit')
      .description('Pay 2.5 % of a sale, linked to the attestation, remittance or payment that it is based on.')
      .argument('<parent>', 'att_…, clm_…, roy_… or pay_…')
      .requiredOption('--sale <usd>', 'sale price'),
  ).action(async (parent: string, options) => {
    const { runRemit } = await import('./run-citations.ts')
    await runRemit(context, nodeUrl(options.url), parent, options)
  })
}

const addWitness: AddCommand = (program, context) => {
  program
    .command('witness')
    .summary('Run a witness that cosigns append-only logs')
    .description(
      'Serve POST /add-checkpoint (C2SP tlog-witness) on loopback, or on --host. A tree head is cosigned after ' +
        'a consistency proof from the last one. Key rotations of a log are followed by the statements in GET /v1/log. Run it ' +
        'on another machine than the log.',
    )
    .option('--name <name>', 'name of the witness, such as witness.example.org', 'witness.local')
    .option('--log <vkey>', 'key of a log to watch, as in `keys` of GET /v1/log; may be repeated', collect, [])
    .option('--trust-wallet <address>', 'operator who may name keys of these logs; may be repeated', collect, [])
    .option('--home <folder>', 'folder for key and state', '.assay-witness')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on', '4040')
    .action(
      async (options: {
        name: string
        log: string[]
        trustWallet: string[]
        home: string
        host: string
        port: string
      }) => {
        if (options.log.length === 0) throw usageError('--log is missing', 'The keys of a log are in GET /v1/log.')
        if (!/^\d{1,5}$/.test(options.port)) throw usageError(`not a port: ${options.port}`)
        const { runWitness } = await import('./run-witness.ts')
        await runWitness(context, { ...options, port: Number(options.port) })
      },
    )
}
