// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {B20Rules} from "./B20Rules.sol";
import {B20Storage} from "./B20Storage.sol";
import {B20PolicyRegistry} from "./B20PolicyRegistry.sol";

/// Roles, pauses, policies and balances: what both halves of the token's code share.
abstract contract B20Access {
    event Transfer(address indexed from, address indexed to, uint256 amount);
    event Memo(address indexed caller, bytes32 indexed memo);

    error AccessControlUnauthorizedAccount(address account, bytes32 neededRole);
    error ContractPaused(uint8 feature);
    error InsufficientBalance(address sender, uint256 balance, uint256 needed);
    error InvalidReceiver(address receiver);
    error SupplyCapExceeded(uint256 cap, uint256 attempted);
    error PolicyForbids(bytes32 policyScope, uint64 policyId);
    error UnsupportedPolicyType(bytes32 policyScope);

    bytes32 internal constant ADMIN = bytes32(0);
    bytes32 internal constant MINT = keccak256("MINT_ROLE");
    bytes32 internal constant OPERATOR = keccak256("OPERATOR_ROLE");
    bytes32 internal constant METADATA = keccak256("METADATA_ROLE");

    bytes32 internal constant SENDER = keccak256("TRANSFER_SENDER_POLICY");
    bytes32 internal constant RECEIVER = keccak256("TRANSFER_RECEIVER_POLICY");
    bytes32 internal constant EXECUTOR = keccak256("TRANSFER_EXECUTOR_POLICY");
    bytes32 internal constant MINT_RECEIVER = keccak256("MINT_RECEIVER_POLICY");
    bytes32 internal constant SEIZE_EXEMPT = keccak256("SEIZE_EXEMPT_POLICY");
    bytes32 internal constant SEIZE_RECEIVER = keccak256("SEIZE_RECEIVER_POLICY");

    uint8 internal constant PAUSE_TRANSFER = 0;
    uint8 internal constant PAUSE_MINT = 1;
    uint8 internal constant PAUSE_BURN = 2;
    uint8 internal constant PAUSE_SEIZE = 3;

    /// The factory acts for the issuer until the creation is over.
    function inCreation() internal view returns (bool) {
        return msg.sender == B20Rules.FACTORY && B20Rules.lifecycle() == 1;
    }

    function checkRole(bytes32 role) internal view {
        if (!B20Storage.token().roles[role][msg.sender] && !inCreation()) {
            revert AccessControlUnauthorizedAccount(msg.sender, role);
        }
    }

    function checkNotPaused(uint8 feature) internal view {
        if (B20Storage.token().pausedFeatures >> feature & 1 == 1) revert ContractPaused(feature);
    }

    /// Where a scope's id lies: word 0 transfers, 1 mint, 2 seize, and its position in that word.
    function lane(bytes32 scope) private view returns (uint256 word, uint256 shift) {
        if (scope == SENDER) return (0, 0);
        if (scope == RECEIVER) return (0, 64);
        if (scope == EXECUTOR) return (0, 128);
        if (scope == MINT_RECEIVER) return (1, 0);
        if (B20Rules.fork() >= B20Rules.COBALT) {
            if (scope == SEIZE_EXEMPT) return (2, 0);
            if (scope == SEIZE_RECEIVER) return (2, 64);
        }
        revert UnsupportedPolicyType(scope);
    }

    function boundPolicy(bytes32 scope) internal view returns (uint64) {
        (uint256 word, uint256 shift) = lane(scope);
        B20Storage.Token storage t = B20Storage.token();
        return uint64((word == 0 ? t.transferPolicyIds : word == 1 ? t.mintPolicyIds : t.seizePolicyIds) >> shift);
    }

    function bindPolicy(bytes32 scope, uint64 id) internal returns (uint64 before) {
        before = boundPolicy(scope);
        (uint256 word, uint256 shift) = lane(scope);
        B20Storage.Token storage t = B20Storage.token();
        uint256 clear = ~(uint256(type(uint64).max) << shift);
        uint256 set = uint256(id) << shift;
        if (word == 0) t.transferPolicyIds = (t.transferPolicyIds & clear) | set;
        else if (word == 1) t.mintPolicyIds = (t.mintPolicyIds & clear) | set;
        else t.seizePolicyIds = (t.seizePolicyIds & clear) | set;
    }

    function authorized(bytes32 scope, address account) internal view returns (bool) {
        uint64 id = boundPolicy(scope);
        return id == 0 || B20PolicyRegistry(B20Rules.POLICIES).isAuthorized(id, account);
    }

    function checkPolicy(bytes32 scope, address account) internal view {
        if (!authorized(scope, account)) revert PolicyForbids(scope, boundPolicy(scope));
    }

    /// From Denim on no token can be credited: what arrives there could never be sent again.
    function checkReceiver(address to) internal view {
        bool stuck = B20Rules.hasTokenPrefix(to) && B20Rules.fork() >= B20Rules.DENIM;
        if (to == address(0) || stuck) revert InvalidReceiver(to);
    }

    /// Pause comes before role in everything that both can stop.
    function checkMay(uint8 feature, bytes32 role) internal view {
        checkNotPaused(feature);
        checkRole(role);
    }

    function mintTo(address to, uint256 amount) internal {
        B20Storage.Token storage t = B20Storage.token();
        checkReceiver(to);
        checkPolicy(MINT_RECEIVER, to);
        uint256 supply = t.totalSupply + amount;
        if (supply > t.supplyCap) revert SupplyCapExceeded(t.supplyCap, supply);
        t.totalSupply = supply;
        t.balances[to] += amount;
        emit Transfer(address(0), to, amount);
    }

    function move(address from, address to, uint256 amount) internal {
        B20Storage.Token storage t = B20Storage.token();
        uint256 balance = t.balances[from];
        if (balance < amount) revert InsufficientBalance(from, balance, amount);
        unchecked {
            t.balances[from] = balance - amount;
        }
        if (to == address(0)) t.totalSupply -= amount;
        else t.balances[to] += amount;
        emit Transfer(from, to, amount);
    }
}
