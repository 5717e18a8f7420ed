import type { Command } from 'commander'
import { payable } from '../buy/payable.ts'
import { type AddCommand, jsonOption } from '../command-context.ts'
import { nodeOption, nodeUrl, walletArgument } from '../commerce/node-url.ts'
import { usageError } from '../exit-codes.ts'

const collect = (value: string, earlier: string[]) => [...earlier, value]

/** What a citing agent and a creator do. */
export const addCitations: AddCommand = (program, context) => {
  addCite(program, context)
  addClaim(program, context)
  addAttestation(program, context)
  addCreator(program, context)
  addCreators(program, context)
  addRoyalty(program, context)
  addWitness(program, context)
}

const payableToFile = (command: Command): Command =>
  payable(command)
    .option('--out <file>', 'write evidence there, for `assay verify`')
    .option('--witness-wait <seconds>', 'how long to wait for the signatures of witnesses, with --out', '15')

const addCite: AddCommand = (program, context) => {
  payableToFile(
    program
      .command('cite')
      .summary('stamp a citation and pay its creator')
      .description('Pays 0.005 USD: nine tenths for the creator. Prints the attestation with its proof from the log.')
      .argument('<url>', 'the page that is cited')
      .option('--quote <text>', 'words that must stand on the page')
      .option('--claim <text>', 'what the citation supports; only its digest is kept')
      .option('--query-id <id>', 'the match that led to the page'),
  )
    .addHelpText('after', '\nExample:\n  assay cite http://glossary.test/short-squeeze --demo --out citation.json')
    .action(async (url: string, options) => {
      const { runCite } = await import('./run-citations.ts')
      await runCite(context, nodeUrl(options.node), url, options)
    })
}

const addClaim: AddCommand = (program, context) => {
  payableToFile(
    program
      .command('claim')
      .summary('anchor a statement with the pages it rests on')
      .description('Pays 0.005 USD, shared by the sources. Only the digest of the statement is kept.')
      .argument('<statement>', 'what is claimed')
      .option('--source <url>', 'a page it rests on; may be repeated, the most important first', collect, []),
  ).action(async (statement: string, options) => {
    if (options.source.length === 0) throw usageError('a claim rests on at least one --source')
    const { runClaim } = await import('./run-citations.ts')
    await runClaim(context, nodeUrl(options.node), statement, options)
  })
}

const addAttestation: AddCommand = (program, context) => {
  program
    .command('attestation')
    .summary('an attestation as it is now, with witnesses and payout')
    .argument('<id>', 'such as att_…')
    .option('--out <file>', 'write it there, for `assay verify`')
    .option(...nodeOption)
    .option(...jsonOption)
    .action(async (id: string, options: { node: string; out?: string; json?: boolean }) => {
      const { showAttestation } = await import('./run-citations.ts')
      await showAttestation(context, nodeUrl(options.node), id, options)
    })
}

const addCreator: AddCommand = (program, context) => {
  program
    .command('creator')
    .summary('what a creator earned, and how to claim it')
    .argument('<wallet>', 'its address')
    .option(...nodeOption)
    .option(...jsonOption)
    .action(async (wallet: string, options: { node: string; json?: boolean }) => {
      const { showCreator } = await import('./run-citations.ts')
      await showCreator(context, nodeUrl(options.node), walletArgument(wallet), options.json)
    })
}

const addCreators: AddCommand = (program, context) => {
  program
    .command('creators')
    .summary('check what creators are paid against the log')
    .command('audit')
    .description(
      'Computes the root of an epoch again from the entries of the log that it pays for, each checked with its proof. ' +
        'Exits with 5 when they are not equal. With --rpc the contract is asked too.',
    )
    .argument('<epoch>', 'number of the epoch')
    .option('--network <caip2>', 'chain of the distributor', 'eip155:8453')
    .option('--rpc <url>', 'endpoint of that chain')
    .option(...nodeOption)
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  assay creators audit 12 --rpc https://mainnet.base.org')
    .action(async (epoch: string, options: { node: string; network: string; rpc?: string; json?: boolean }) => {
      if (!/^[1-9]\d{0,17}$/.test(epoch)) throw usageError(`not the number of an epoch: ${epoch}`)
      const { runAudit } = await import('./run-audit.ts')
      await runAudit(context, nodeUrl(options.node), BigInt(epoch), options)
    })
}

const addRoyalty: AddCommand = (program, context) => {
  const royalty = program.command('royalty').summary('what is due on a sale, and remitting it')
  royalty
    .command('info')
    .description('The royalty on a price, in the unit of the price.')
    .argument('<price>', 'a whole number')
    .option(...nodeOption)
    .option(...jsonOption)
    .action(async (price: string, options: { node: string; json?: boolean }) => {
      if (!/^\d{1,77}$/.test(price)) throw usageError(`not a whole number: ${price}`)
      const { showRoyalty } = await import('./run-citations.ts')
      await showRoyalty(context, nodeUrl(options.node), BigInt(price), options.json)
    })
  payableToFile(
    royalty
      .command('remit')
      .description('Pays 2.5 % of a sale, linked to the attestation, remittance or payment it was made from.')
      .argument('<parent>', 'att_…, clm_…, roy_… or pay_…')
      .requiredOption('--sale <usd>', 'what it was sold for'),
  ).action(async (parent: string, options) => {
    const { runRemit } = await import('./run-citations.ts')
    await runRemit(context, nodeUrl(options.node), parent, options)
  })
}

const addWitness: AddCommand = (program, context) => {
  program
    .command('witness')
    .summary('watch logs and sign that they only grow')
    .description(
      'Serves POST /add-checkpoint (C2SP tlog-witness) on loopback, or on --host. It signs a tree head once it has been ' +
        'shown a proof that the log only grew since the last one it signed. It follows rotations of the key of a log by the ' +
        'statements in GET /v1/log. Run it on a machine that is not the log’s.',
    )
    .option('--name <name>', 'name of the witness, such as witness.example.org', 'witness.local')
    .option('--log <vkey>', 'key of a log to watch, as in `keys` of GET /v1/log; may be repeated', collect, [])
    .option('--trust-wallet <address>', 'operator who may name keys of these logs; may be repeated', collect, [])
    .option('--home <folder>', 'where key and state are kept', '.assay-witness')
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
