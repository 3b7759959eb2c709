// Metal by Apple's API. Compiled on macOS only, with reference counting by the compiler (ARC). What
// it does beyond handing on is little on purpose: the rest of the backend runs, and is tested,
// without it.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include "Api.h"

#include <cstring>

using namespace xtensor::metal;

namespace {

/// Objects cross the interface as pointers that own a reference.
void *keep(id object) { return (__bridge_retained void *)object; }
template <typename T>
T of(void *pointer) {
  return (__bridge T)pointer;
}
void release(void *pointer) {
  if (pointer)
    (void)(__bridge_transfer id)pointer;
}

std::string textOf(NSError *error) {
  return error ? error.localizedDescription.UTF8String : "no reason given";
}

} // namespace

/// One command buffer, and the encoder that is open in it. Of one kind at a time: a compute encoder
/// runs its commands one after another, each seeing what those before it wrote.
@interface XTCommands : NSObject
@property(nonatomic, strong) id<MTLCommandBuffer> buffer;
@property(nonatomic, strong) id<MTLComputeCommandEncoder> compute;
@property(nonatomic, strong) id<MTLBlitCommandEncoder> blit;
@end
@implementation XTCommands
@end

static void endEncoder(XTCommands *commands) {
  [commands.compute endEncoding];
  [commands.blit endEncoding];
  commands.compute = nil;
  commands.blit = nil;
}

namespace {

class AppleGpu final : public Gpu {
public:
  explicit AppleGpu(id<MTLDevice> device)
      : device(device), queue([device newCommandQueue]), name(device.name.UTF8String) {
    NSOperatingSystemVersion os = NSProcessInfo.processInfo.operatingSystemVersion;
    driver = "macOS " + std::to_string(os.majorVersion) + "." + std::to_string(os.minorVersion);
    limits.name = name.c_str();
    limits.driver = driver.c_str();
    limits.memoryBytes = static_cast<int64_t>(device.recommendedMaxWorkingSetSize);
    limits.maxBufferBytes = static_cast<int64_t>(device.maxBufferLength);
    limits.workgroupBytes = static_cast<int64_t>(device.maxThreadgroupMemoryLength);
    limits.maxThreads = static_cast<int64_t>(device.maxThreadsPerThreadgroup.width);
  }

  bool usable() const { return queue != nil; }

  bool makeBuffer(size_t bytes, Buffer &buffer) override {
    // Tracked: a list of commands waits for those before it that use the same buffers.
    id<MTLBuffer> made = [device
        newBufferWithLength:bytes
                    options:MTLResourceStorageModeShared | MTLResourceHazardTrackingModeTracked];
    if (!made)
      return false;
    buffer = {keep(made), static_cast<char *>(made.contents), bytes};
    return true;
  }
  void dropBuffer(Buffer &buffer) override { release(buffer.handle); }

  void *makeKernel(const xt_kernel &kernel, std::string &error) override {
    @autoreleasepool {
      NSString *text = [[NSString alloc] initWithBytes:kernel.code
                                                length:static_cast<NSUInteger>(kernel.code_bytes)
                                              encoding:NSUTF8StringEncoding];
      MTLCompileOptions *options = [MTLCompileOptions new];
      options.languageVersion = MTLLanguageVersion3_0;
      keepArithmetic(options);
      NSError *failure = nil;
      id<MTLLibrary> library = [device newLibraryWithSource:text options:options error:&failure];
      id<MTLFunction> function = [library newFunctionWithName:@(kernel.name)];
      if (!function) {
        error = textOf(failure);
        return nullptr;
      }
      MTLComputePipelineDescriptor *what = [MTLComputePipelineDescriptor new];
      what.computeFunction = function;
      // As many registers as this leaves: without it, a long kernel may allow for fewer threads.
      what.maxTotalThreadsPerThreadgroup =
          static_cast<NSUInteger>(kernel.threads[0] * kernel.threads[1] * kernel.threads[2]);
      id<MTLComputePipelineState> pipeline =
          [device newComputePipelineStateWithDescriptor:what
                                                options:MTLPipelineOptionNone
                                             reflection:nil
                                                  error:&failure];
      if (!pipeline) {
        error = textOf(failure);
        return nullptr;
      }
      return keep(pipeline);
    }
  }
  void dropKernel(void *kernel) override { release(kernel); }

  void *begin(std::string &error) override {
    @autoreleasepool {
      XTCommands *commands = [XTCommands new];
      commands.buffer = [queue commandBuffer];
      if (commands.buffer)
        return keep(commands);
      error = "no list of commands can be begun";
      return nullptr;
    }
  }

  void launch(void *list, void *kernel, const xt_kernel &what, const int64_t groups[3],
              const Place *buffers, const int32_t *numbers) override {
    @autoreleasepool {
      XTCommands *commands = of<XTCommands *>(list);
      if (!commands.compute) {
        endEncoder(commands);
        commands.compute =
            [commands.buffer computeCommandEncoderWithDispatchType:MTLDispatchTypeSerial];
      }
      id<MTLComputeCommandEncoder> encoder = commands.compute;
      [encoder setComputePipelineState:of<id<MTLComputePipelineState>>(kernel)];
      for (int32_t i = 0; i < what.buffers; ++i)
        [encoder setBuffer:buffers[i].buffer ? of<id<MTLBuffer>>(buffers[i].buffer->handle) : nil
                    offset:buffers[i].offset
                   atIndex:static_cast<NSUInteger>(i)];
      if (what.numbers > 0)
        [encoder setBytes:numbers
                   length:4 * static_cast<NSUInteger>(what.numbers)
                  atIndex:static_cast<NSUInteger>(what.buffers)];
      auto size = [](auto x, auto y, auto z) {
        return MTLSizeMake(static_cast<NSUInteger>(x), static_cast<NSUInteger>(y),
                           static_cast<NSUInteger>(z));
      };
      [encoder dispatchThreadgroups:size(groups[0], groups[1], groups[2])
              threadsPerThreadgroup:size(what.threads[0], what.threads[1], what.threads[2])];
    }
  }

  void copy(void *list, Place to, Place from, size_t bytes) override {
    @autoreleasepool {
      XTCommands *commands = of<XTCommands *>(list);
      if (!commands.blit) {
        endEncoder(commands);
        commands.blit = [commands.buffer blitCommandEncoder];
      }
      [commands.blit copyFromBuffer:of<id<MTLBuffer>>(from.buffer->handle)
                       sourceOffset:from.offset
                           toBuffer:of<id<MTLBuffer>>(to.buffer->handle)
                  destinationOffset:to.offset
                               size:bytes];
    }
  }

  void send(void *list) override {
    @autoreleasepool {
      XTCommands *commands = of<XTCommands *>(list);
      endEncoder(commands);
      [commands.buffer commit];
    }
  }

  bool done(void *list) override {
    MTLCommandBufferStatus status = of<XTCommands *>(list).buffer.status;
    return status == MTLCommandBufferStatusCompleted || status == MTLCommandBufferStatusError;
  }

  bool wait(void *list, std::string &error) override {
    @autoreleasepool {
      id<MTLCommandBuffer> buffer = of<XTCommands *>(list).buffer;
      [buffer waitUntilCompleted];
      if (buffer.status == MTLCommandBufferStatusCompleted)
        return true;
      error = textOf(buffer.error);
      return false;
    }
  }

  void drop(void *list) override {
    @autoreleasepool {
      // An encoder must not go away open.
      endEncoder(of<XTCommands *>(list));
      release(list);
    }
  }

private:
  /// The text asks for it too, by pragmas, which older compilers may not know.
  static void keepArithmetic(MTLCompileOptions *options) {
    if (@available(macOS 15.0, *)) {
      options.mathMode = MTLMathModeSafe;
      options.mathFloatingPointFunctions = MTLMathFloatingPointFunctionsPrecise;
      return;
    }
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
    options.fastMathEnabled = NO;
#pragma clang diagnostic pop
  }

  id<MTLDevice> device;
  id<MTLCommandQueue> queue;
  std::string name, driver;
};

/// The one that the system prefers, then the others.
NSArray<id<MTLDevice>> *devices() {
  static NSArray<id<MTLDevice>> *found = [] {
    NSMutableArray<id<MTLDevice>> *all = [NSMutableArray new];
    id<MTLDevice> preferred = MTLCreateSystemDefaultDevice();
    if (preferred)
      [all addObject:preferred];
    for (id<MTLDevice> device in MTLCopyAllDevices())
      if (device.registryID != preferred.registryID)
        [all addObject:device];
    return all;
  }();
  return found;
}

int32_t countDevices(std::string &error) {
  @autoreleasepool {
    if (devices().count == 0)
      error = "this Mac has no GPU that Metal knows";
    return static_cast<int32_t>(devices().count);
  }
}

Gpu *openDevice(int32_t index, std::string &error) {
  @autoreleasepool {
    auto *gpu = new AppleGpu(devices()[static_cast<NSUInteger>(index)]);
    if (gpu->usable())
      return gpu;
    error = "Metal gives no queue";
    delete gpu;
    return nullptr;
  }
}

} // namespace

const Api xtensor::metal::appleApi = {countDevices, openDevice};
