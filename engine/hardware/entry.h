// The catalogue's entries: a device, a node of several, a network of nodes, another program; plain
// data. Members are named as the keys of the files; fields.cpp has their ranges and words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/hardware/number.h"

namespace heddle::hardware {

struct Device {
  std::string name;   // "h100-sxm"
  std::string title;  // "NVIDIA H100 SXM 80 GB"
  /// Words in the name that its driver gives; several: any of them.
  std::vector<std::string> driver;
  std::string file;  // that says so

  Number multiprocessors;
  Number memory_gib;        // that a program can have
  Number memory_gb_per_s;   // at most
  Number memory_reach;      // the share of it that a kernel of one pass reaches
  Number bf16_peak_tflops;  // dense
  Number bf16_best_tflops;  // of the best matrix product that was measured
  Number
      sustained_share;  // of it (and of what follows) that long training keeps: power has a limit
  Number fp8_peak_tflops, fp8_best_tflops;  // not known: it has no such units
  Number fp32_peak_tflops;
  Number attention_forward_tflops, attention_backward_tflops;  // by the best library, causal
  Number sdpa_forward_tflops, sdpa_backward_tflops;            // as LibTorch does by default
  Number graph_launch_us, framework_launch_us;                 // from one kernel to the next
  Number transfer_multiprocessors;                             // that a collective takes
  Number transfer_slowdown;  // by what share a collective is slower next to compute
  Number context_gib;        // the driver's context and the libraries' own memory
};

/// A collective inside a node: latency + bytes of the whole tensors / rate.
struct LinkRate {
  int64_t ranks = 0;
  Number latency_us, gb_per_s;
};

/// Devices that are joined by something faster than the network.
struct Node {
  std::string name, title, file;
  std::string device;   // its name
  std::string network;  // that joins such nodes unless another one is asked for
  int64_t devices = 0;
  int64_t nics = 0;
  /// Devices that are used together where a run may leave some of a node unused, as a tray of a
  /// rack; 0: a run takes whole nodes.
  int64_t part = 0;

  Number link_gb_per_s;  // of a device to the others, one way, at most
  Number link_reach;     // the share of it that a ring reaches
  ByProtocol base_us;    // until a collective begins
  ByProtocol step_us;    // from one device to the next
  Number buffers_gib;    // that the collectives' library keeps on each device
  /// Measured rates by number of ranks; without them the ring's formula holds.
  std::vector<LinkRate> gather, all_reduce, all_to_all;

  Number usd_per_device_hour;  // the price of one; no prediction depends on it; often not known
};

struct Network {
  std::string name, title, file;
  Number gb_per_s;     // of a network card, one way, at most
  Number reach;        // the share of it that a ring reaches
  ByProtocol step_us;  // from one node to the next
};

/// A program that others train with: how well it uses the hardware, as its published runs show.
struct Program {
  std::string name, title, file;

  // Compute.
  Number product_share, attention_share;  // of the device's rates that it reaches
  Number ring_attention_share;            // of that, where a context is cut over ranks
  Number passes;                          // how often it moves the bytes of fused operators
  Number logit_bytes;                     // that its loss moves for each logit, there and back
  Number layer_launch_ms;                 // of the host, for a layer there and back
  Number exchange_launch_ms;              // more of it where tensors are cut over ranks
  Number stage_launch_ms;                 // more for each such rank, in a pipeline over nodes
  Number step_ms;                         // of a step, whatever is in it
  Number update_bytes;                    // that the optimizer moves for each parameter
  Number whole_update_bytes;              // and for each that it only has whole

  // Transfers.
  Number exchange_share;      // of exchanges inside a node that compute waits for
  Number exchange_far_share;  // of those that leave it
  Number exchange_us;         // that each one takes longer, for each node that it is on
  Number gather_share;        // of gathers and scatters next to compute that is not hidden
  Number reduce_reach;        // of the measured rate, when gradients are reduced once a step
  Number reduce_all_reach;    // the same where each rank has them whole afterwards
  Number pipeline_reduce;     // how many times as long the latter takes in a pipeline over nodes
  Number reduce_hidden;       // the share of the last backward pass that hides that
  Number hop_us;              // from one pipeline stage to the next, besides the bytes

  // Bytes of memory.
  Number replicated_bytes, alone_bytes;  // a parameter, with and without other copies of it
  Number whole_bytes, sharded_bytes;     // where states alone are sharded
  Number all_sharded_bytes;              // where all is
  Number input_bytes;                    // that stay of each number of the input
  Number hidden_bytes, ffn_bytes;        // kept by a layer, for each number of those widths
  Number embedding_bytes;                // by the first stage
  Number kept_share;                     // of these with selective recomputation
  Number logit_memory_bytes;             // for each logit
  Number update_memory_bytes;            // for each parameter that a rank updates
  Number process_gib;                    // of the allocator that no tensor explains
  Number outside_gib;                    // that it holds besides: communicators, workspaces
  Number live_share;  // of what layers keep: less it cannot do with; above 1 it does not pack well

  // How far predictions have been off on rows that were not used, nine times in ten.
  Number spread, spread_a_doubling;  // of a step's time on a node, more for each doubling
  Number memory_spread;
};

/// The hardware that a plan is made for: nodes of one kind in a network.
struct Entry {
  std::string name;  // "h100-sxm", or "h100-sxm@ethernet-100g" in another network than its own
  Device device;
  Node node;
  Network network;
};

/// Sets a number by its key as files have it, "device.sustained_share" or "network.reach": for
/// what was measured of one cluster. False where there is none of that name, or out of its range.
bool set_number(Entry& entry, const std::string& key, double value);
bool set_number(Program& program, const std::string& key, double value);

/// For people: "8 × NVIDIA H100 SXM 80 GB a node, NVSwitch; InfiniBand NDR".
std::string words(const Entry& entry);

/// Where its numbers are from, a line for each source, the measured ones first.
std::vector<std::string> sources(const Entry& entry);
std::vector<std::string> sources(const Program& program);

}  // namespace heddle::hardware
