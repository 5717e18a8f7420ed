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

/// Pays creators what was committed to them. A root says what each has earned since the beginning; whoever shows a proof
/// sends the creator the part that was not yet claimed. Every root is backed: its increase is pulled in the same call.
/// Nobody has rights here. The treasurer's signature over the transfer names the root it pays for, so anyone may send it.
contract CreatorDistributor {
    IDollar public immutable dollar;
    address public immutable treasurer;

    bytes32 public root;
    /// All that was ever committed, and of that, all that was claimed.
    uint256 public total;
    uint256 public claimedTotal;
    uint64 public epoch;
    mapping(address creator => uint256) public claimed;

    event Advanced(uint64 indexed epoch, bytes32 root, uint256 total, uint256 increase);
    event Claimed(address indexed creator, uint256 amount, uint256 cumulative);

    error NothingAdded();
    error NotBacked();
    error NotInRoot();
    error NothingToClaim();
    error TransferFailed();

    constructor(address dollar_, address treasurer_) {
        dollar = IDollar(dollar_);
        treasurer = treasurer_;
    }

    /// The nonce of the treasurer's authorization: it fits this root, after the present one, on this contract only.
    function nonceFor(bytes32 newRoot, uint256 newTotal) public view returns (bytes32) {
        return keccak256(abi.encode(block.chainid, address(this), epoch, root, newRoot, newTotal));
    }

    function advance(bytes32 newRoot, uint256 newTotal, uint256 validBefore, bytes calldata signature) external {
        if (newTotal <= total) revert NothingAdded();
        uint256 increase = newTotal - total;
        uint256 before = dollar.balanceOf(address(this));
        bytes32 nonce = nonceFor(newRoot, newTotal);
        root = newRoot;
        total = newTotal;
        epoch += 1;
        dollar.receiveWithAuthorization(treasurer, address(this), increase, 0, validBefore, nonce, signature);
        if (dollar.balanceOf(address(this)) - before != increase) revert NotBacked();
        emit Advanced(epoch, newRoot, newTotal, increase);
    }

    /// Leaves are bound to chain and contract, and hashed twice so that no inner node can be one.
    function leafOf(address creator, uint256 cumulative) public view returns (bytes32) {
        return keccak256(bytes.concat(keccak256(abi.encode(block.chainid, address(this), creator, cumulative))));
    }

    function claimFor(address creator, uint256 cumulative, bytes32[] calldata proof) external {
        bytes32 hash = leafOf(creator, cumulative);
        for (uint256 i = 0; i < proof.length; i++) {
            bytes32 sibling = proof[i];
            hash = hash < sibling ? keccak256(abi.encode(hash, sibling)) : keccak256(abi.encode(sibling, hash));
        }
        if (hash != root) revert NotInRoot();
        uint256 before = claimed[creator];
        if (cumulative <= before) revert NothingToClaim();
        uint256 amount = cumulative - before;
        claimed[creator] = cumulative;
        claimedTotal += amount;
        // A root that promised more than was committed cannot pay one creator with the money of another for ever.
        if (claimedTotal > total) revert NotBacked();
        if (!dollar.transfer(creator, amount)) revert TransferFailed();
        emit Claimed(creator, amount, cumulative);
    }
}
