// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

interface IDollar {
    function balanceOf(address account) external view returns (uint256);
    function transfer(address to, uint256 value) external returns (bool);
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external;
}

/// Pays creators what was allotted to them, epoch by epoch.
///
/// An epoch is a list of leaves (account, wallet, amount) and a pot: exactly the sum of its leaves, pulled from the
/// treasurer in the call that sets the epoch. The leaves are in the event of that call, so anybody can rebuild the tree.
/// An epoch pays out of its own pot, after `claimDelay`, for ever. No later call changes an epoch, cancels it or takes
/// from its pot, whoever makes it.
///
/// The treasurer's signature can set further epochs and nothing else. Money of a leaf goes to its wallet, unless that
/// wallet redirected it, or a move signed by the mover was announced for `moveDelay` without the wallet refusing it.
contract CreatorDistributor {
    /// `account` is keccak256 of the domain that earned the money.
    struct Leaf {
        bytes32 account;
        address wallet;
        uint64 amount;
    }

    struct Epoch {
        bytes32 root;
        uint128 pot;
        uint64 opensAt;
    }

    struct Claim {
        uint64 epoch;
        uint64 amount;
        bytes32[] proof;
    }

    /// `refused` is set by the wallet and stays.
    struct Move {
        address to;
        uint40 untilEpoch;
        uint40 readyAt;
        bool refused;
    }

    IDollar public immutable dollar;
    address public immutable treasurer;
    /// Signs moves. The zero address for none.
    address public immutable mover;
    uint256 public immutable claimDelay;
    uint256 public immutable moveDelay;

    uint64 public epoch;
    /// All that was ever allotted, and of that, all that was claimed.
    uint256 public total;
    uint256 public claimedTotal;
    mapping(uint64 epoch => Epoch) public epochs;
    /// By account and wallet: one bit an epoch.
    mapping(bytes32 key => mapping(uint256 word => uint256)) private claimedBits;
    mapping(bytes32 key => Move) public moves;
    mapping(address wallet => address) public redirected;

    event Advanced(uint64 indexed epoch, bytes32 root, uint256 pot, uint64 opensAt, Leaf[] leaves);
    event Claimed(
        uint64 indexed epoch, bytes32 indexed account, address indexed wallet, address payee, uint256 amount
    );
    event Redirected(address indexed wallet, address to);
    event MoveRequested(
        bytes32 indexed account, address indexed wallet, address indexed to, uint64 untilEpoch, uint256 readyAt
    );
    event MoveRefused(bytes32 indexed account, address indexed wallet);

    error NothingAdded();
    error NotAscending();
    error NotBacked();
    error NotInRoot();
    error NotOpen();
    error NothingToClaim();
    error DifferentPayees();
    error MovePending();
    error MoveNotPossible();
    error BadSignature();
    error TransferFailed();

    constructor(address dollar_, address treasurer_, address mover_, uint256 claimDelay_, uint256 moveDelay_) {
        // One key must not be able to both fund and move.
        if (mover_ == treasurer_) revert MoveNotPossible();
        dollar = IDollar(dollar_);
        treasurer = treasurer_;
        mover = mover_;
        claimDelay = claimDelay_;
        moveDelay = moveDelay_;
    }

    /// Anyone may send it. The nonce of the treasurer's authorization is the root, and the root names this chain, this
    /// contract, the number of the epoch and every leaf: the signature fits nothing else.
    function advance(Leaf[] calldata leaves, uint256 validBefore, bytes calldata signature) external {
        uint64 next = epoch + 1;
        (bytes32 root, uint256 pot) = rootOf(next, leaves);
        uint64 opensAt = uint64(block.timestamp + claimDelay);
        epoch = next;
        epochs[next] = Epoch(root, uint128(pot), opensAt);
        total += pot;
        uint256 before = dollar.balanceOf(address(this));
        dollar.receiveWithAuthorization(treasurer, address(this), pot, 0, validBefore, root, signature);
        if (dollar.balanceOf(address(this)) - before != pot) revert NotBacked();
        emit Advanced(next, root, pot, opensAt, leaves);
    }

    /// Root and sum of the leaves, which ascend by account and wallet: so none is there twice.
    function rootOf(uint64 at, Leaf[] calldata leaves) public view returns (bytes32 root, uint256 pot) {
        uint256 count = leaves.length;
        if (count == 0) revert NothingAdded();
        bytes32[] memory row = new bytes32[](count);
        for (uint256 i = 0; i < count; i++) {
            Leaf calldata leaf = leaves[i];
            if (leaf.amount == 0) revert NothingAdded();
            if (i > 0) {
                Leaf calldata last = leaves[i - 1];
                if (
                    leaf.account < last.account || (leaf.account == last.account && leaf.wallet <= last.wallet)
                ) revert NotAscending();
            }
            row[i] = leafOf(at, leaf.account, leaf.wallet, leaf.amount);
            pot += leaf.amount;
        }
        while (count > 1) {
            uint256 pairs = count / 2;
            for (uint256 i = 0; i < pairs; i++) row[i] = _join(row[2 * i], row[2 * i + 1]);
            // A node without sibling goes up as it is.
            if (count % 2 == 1) row[pairs] = row[count - 1];
            count = pairs + (count % 2);
        }
        root = row[0];
    }

    /// Leaves are bound to chain, contract and epoch, and hashed twice so that no inner node can be one.
    function leafOf(uint64 at, bytes32 account, address wallet, uint64 amount) public view returns (bytes32) {
        return keccak256(
            bytes.concat(keccak256(abi.encode(block.chainid, address(this), at, account, wallet, amount)))
        );
    }

    function claimFor(uint64 at, bytes32 account, address wallet, uint64 amount, bytes32[] calldata proof) external {
        address payee = payeeOf(at, account, wallet);
        if (!_take(at, account, wallet, amount, proof, payee)) revert NothingToClaim();
        _pay(payee, amount);
    }

    /// Several epochs in one transfer. What was claimed before is left out: nobody can spoil a claim by claiming a part.
    function claimMany(bytes32 account, address wallet, Claim[] calldata claims) external {
        if (claims.length == 0) revert NothingToClaim();
        address payee = payeeOf(claims[0].epoch, account, wallet);
        uint256 sum = 0;
        for (uint256 i = 0; i < claims.length; i++) {
            Claim calldata claim = claims[i];
            if (payeeOf(claim.epoch, account, wallet) != payee) revert DifferentPayees();
            if (_take(claim.epoch, account, wallet, claim.amount, claim.proof, payee)) sum += claim.amount;
        }
        if (sum == 0) revert NothingToClaim();
        _pay(payee, sum);
    }

    function isClaimed(uint64 at, bytes32 account, address wallet) external view returns (bool) {
        return claimedBits[keyOf(account, wallet)][at / 256] & (1 << (at % 256)) != 0;
    }

    /// Who gets the money of a leaf now.
    function payeeOf(uint64 at, bytes32 account, address wallet) public view returns (address payee) {
        Move storage move = moves[keyOf(account, wallet)];
        payee = move.to != address(0) && at <= move.untilEpoch && block.timestamp >= move.readyAt ? move.to : wallet;
        address to = redirected[payee];
        if (to != address(0)) payee = to;
    }

    function keyOf(bytes32 account, address wallet) public pure returns (bytes32) {
        return keccak256(abi.encode(account, wallet));
    }

    /// A wallet names another one for everything it is still to get; the zero address or itself takes it back.
    function redirect(address to) external {
        redirected[msg.sender] = to;
        emit Redirected(msg.sender, to);
    }

    /// For a wallet that was lost: what its domain earned so far goes to another wallet once `moveDelay` has passed.
    /// Once for each account and wallet, and never after the wallet refused. Until then only the wallet itself can
    /// claim, so that nobody sends the money where it is lost.
    function requestMove(bytes32 account, address wallet, address to, uint256 validBefore, bytes calldata signature)
        external
    {
        if (mover == address(0) || _signer(moveDigest(account, wallet, to, validBefore), signature) != mover) {
            revert BadSignature();
        }
        Move storage move = moves[keyOf(account, wallet)];
        if (move.refused || move.to != address(0) || to == address(0) || block.timestamp > validBefore) {
            revert MoveNotPossible();
        }
        uint256 readyAt = block.timestamp + moveDelay;
        move.to = to;
        move.untilEpoch = uint40(epoch);
        move.readyAt = uint40(readyAt);
        emit MoveRequested(account, wallet, to, epoch, readyAt);
    }

    /// The wallet refuses moves of these accounts, requested or not yet, for good. A move that has taken effect stays.
    function refuseMoves(bytes32[] calldata accounts) external {
        for (uint256 i = 0; i < accounts.length; i++) {
            Move storage move = moves[keyOf(accounts[i], msg.sender)];
            if (move.to != address(0) && block.timestamp >= move.readyAt) revert MoveNotPossible();
            move.to = address(0);
            move.refused = true;
            emit MoveRefused(accounts[i], msg.sender);
        }
    }

    /// EIP-712.
    function moveDigest(bytes32 account, address wallet, address to, uint256 validBefore)
        public
        view
        returns (bytes32)
    {
        bytes32 domain = keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256("CreatorDistributor"),
                keccak256("1"),
                block.chainid,
                address(this)
            )
        );
        bytes32 request = keccak256(
            abi.encode(
                keccak256("MoveRequest(bytes32 account,address wallet,address to,uint256 validBefore)"),
                account,
                wallet,
                to,
                validBefore
            )
        );
        return keccak256(abi.encodePacked("\x19\x01", domain, request));
    }

    /// False when it was claimed before.
    function _take(
        uint64 at,
        bytes32 account,
        address wallet,
        uint64 amount,
        bytes32[] calldata proof,
        address payee
    ) private returns (bool) {
        _prove(at, leafOf(at, account, wallet, amount), proof);
        if (!_mark(at, keyOf(account, wallet), wallet)) return false;
        emit Claimed(at, account, wallet, payee, amount);
        return true;
    }

    function _prove(uint64 at, bytes32 hash, bytes32[] calldata proof) private view {
        for (uint256 i = 0; i < proof.length; i++) hash = _join(hash, proof[i]);
        Epoch storage paying = epochs[at];
        if (hash != paying.root) revert NotInRoot();
        if (block.timestamp < paying.opensAt) revert NotOpen();
    }

    function _mark(uint64 at, bytes32 key, address wallet) private returns (bool) {
        Move storage move = moves[key];
        if (
            move.to != address(0) && at <= move.untilEpoch && block.timestamp < move.readyAt && msg.sender != wallet
        ) revert MovePending();
        uint256 bit = 1 << (at % 256);
        uint256 bits = claimedBits[key][at / 256];
        if (bits & bit != 0) return false;
        claimedBits[key][at / 256] = bits | bit;
        return true;
    }

    function _pay(address payee, uint256 amount) private {
        claimedTotal += amount;
        if (!dollar.transfer(payee, amount)) revert TransferFailed();
    }

    function _join(bytes32 a, bytes32 b) private pure returns (bytes32) {
        return a < b ? keccak256(abi.encode(a, b)) : keccak256(abi.encode(b, a));
    }

    function _signer(bytes32 digest, bytes calldata signature) private pure returns (address) {
        if (signature.length != 65) return address(0);
        return ecrecover(digest, uint8(signature[64]), bytes32(signature[0:32]), bytes32(signature[32:64]));
    }
}
