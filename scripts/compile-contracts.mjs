// Compiles contracts/ into contracts/artifacts/. With --check it writes nothing and exits 1 if a committed artifact
// differs from what its source compiles to.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import solc from 'solc'

const contractsFolder = join(dirname(fileURLToPath(import.meta.url)), '..', 'contracts')
const artifactsFolder = join(contractsFolder, 'artifacts')

const sourcePaths = readdirSync(contractsFolder, { recursive: true })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.sol'))
  .sort()
const sources = Object.fromEntries(
  sourcePaths.map((path) => [path, { content: readFileSync(join(contractsFolder, path), 'utf8') }]),
)

function compile() {
  const settings = {
    evmVersion: 'cancun',
    optimizer: { enabled: true, runs: 10_000 },
    // Without the metadata trailer, equal code has equal bytes whatever comments and paths say.
    metadata: { bytecodeHash: 'none', appendCBOR: false },
    outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object', 'metadata'] } },
  }
  const output = JSON.parse(solc.compile(JSON.stringify({ language: 'Solidity', sources, settings })))
  const complaints = output.errors ?? []
  if (complaints.length > 0) {
    for (const complaint of complaints) console.error(complaint.formattedMessage)
    process.exit(1)
  }
  return output.contracts
}

/** One digest over every source a contract is built from, imports included. */
function sourceDigest(metadata) {
  const hash = createHash('sha256')
  for (const path of Object.keys(JSON.parse(metadata).sources).sort())
    hash.update(`${path}\0${sources[path].content}\0`)
  return hash.digest('hex')
}

function renderArtifacts(contracts) {
  const artifacts = new Map()
  for (const path of sourcePaths) {
    const contractName = basename(path, '.sol')
    const contract = contracts[path][contractName]
    // Internal libraries are part of the contracts that use them; nobody deploys them.
    if (contract === undefined || (contract.abi.length === 0 && /^library /m.test(sources[path].content))) continue
    const artifact = {
      contractName,
      abi: contract.abi,
      bytecode: `0x${contract.evm.bytecode.object}`,
      deployedBytecode: `0x${contract.evm.deployedBytecode.object}`,
      sourceSha256: sourceDigest(contract.metadata),
    }
    artifacts.set(contractName, `${JSON.stringify(artifact, null, 1)}\n`)
  }
  return artifacts
}

const artifacts = renderArtifacts(compile())
const committed = existsSync(artifactsFolder) ? readdirSync(artifactsFolder).map((file) => basename(file, '.json')) : []
const orphans = committed.filter((name) => !artifacts.has(name))

if (process.argv.includes('--check')) {
  const changed = [...artifacts].filter(([name, text]) => {
    const path = join(artifactsFolder, `${name}.json`)
    return !existsSync(path) || readFileSync(path, 'utf8') !== text
  })
  for (const [name] of changed) console.error(`${name}: the committed artifact is not what its source compiles to`)
  for (const name of orphans) console.error(`${name}: an artifact without a source`)
  if (changed.length + orphans.length > 0) {
    console.error('run: node scripts/compile-contracts.mjs')
    process.exit(1)
  }
  console.log(`${artifacts.size} contracts match their sources`)
} else {
  mkdirSync(artifactsFolder, { recursive: true })
  for (const name of orphans) rmSync(join(artifactsFolder, `${name}.json`))
  for (const [name, text] of artifacts) writeFileSync(join(artifactsFolder, `${name}.json`), text)
  console.log(`${artifacts.size} contracts compiled`)
}
